"""Dense search over unit vectors: exact for as long as that is the faster way, then approximate."""

from index_builder.vectors.choice import VectorFacts, VectorIndex, open_vectors, settle_vectors
from index_builder.vectors.exact import ROWS_AT_ONCE, ExactVectors, Ids, Vectors, fill_vectors

__all__ = [
    "ROWS_AT_ONCE",
    "ExactVectors",
    "Ids",
    "VectorFacts",
    "VectorIndex",
    "Vectors",
    "fill_vectors",
    "open_vectors",
    "settle_vectors",
]
