"""Agents that search, read and answer, run in pairs, under gates and budgets."""
