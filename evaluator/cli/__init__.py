"""The command line: the only room that picks implementations."""
