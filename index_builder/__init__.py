"""Documents become something searchable: datasets, chunks, indexes, fusion."""
