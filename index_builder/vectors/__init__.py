"""Dense search over unit vectors: exact for as long as that is the faster way, then approximate."""

from index_builder.vectors.choice import WANTED_RECALL, VectorFacts, VectorIndex, open_vectors, settle_vectors
from index_builder.vectors.exact import ExactVectors, Ids, Vectors

__all__ = [
    "WANTED_RECALL",
    "ExactVectors",
    "Ids",
    "VectorFacts",
    "VectorIndex",
    "Vectors",
    "open_vectors",
    "settle_vectors",
]
