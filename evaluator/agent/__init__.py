"""The search/read/final loop as a generator of effects."""
