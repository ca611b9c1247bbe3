"""Files of a run: append-only logs and what is still owed."""
