"""One document, many output formats."""
