"""Answers become verdicts and failure labels."""
