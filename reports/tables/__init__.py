"""Tables of a report: one module each, from the frame to rows of named numbers."""
