"""Named entities of a text, one module an extractor."""
