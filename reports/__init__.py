"""Trajectories and verdicts become tables and figures."""
