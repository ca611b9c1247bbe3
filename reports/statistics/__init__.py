"""Paired statistics, pure."""
