"""Loaders of the official dataset files, one module a format."""
