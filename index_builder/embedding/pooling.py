"""From a vector a token to one unit vector a text: the mean or the last one, then length one.

Pure, and the gate for what a model returns: anything that is no embedding stops here by name.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from index_builder.errors import EmbeddingError

Vectors = npt.NDArray[np.float32]


def mean_pool(hidden: Vectors) -> Vectors:
    """The mean over tokens: [texts, tokens, dimensions] to [texts, dimensions].

    Texts come without padding, so every token counts.

    Raises:
        EmbeddingError: When there is no token to take the mean of.
    """
    if hidden.ndim != 3 or not hidden.shape[1]:
        raise EmbeddingError(f"the model returned a state of shape {hidden.shape}, not a vector a token")
    mean: Vectors = hidden.mean(axis=1)
    return mean


def last_token(hidden: Vectors) -> Vectors:
    """The last token's vector: [texts, tokens, dimensions] to [texts, dimensions].

    Texts come without padding, so the last place is the last token. What a graph has pooled itself, and
    has no axis of tokens left, is returned as it is.

    Raises:
        EmbeddingError: When there is no token.
    """
    if hidden.ndim == 2:
        return hidden
    if hidden.ndim != 3 or not hidden.shape[1]:
        raise EmbeddingError(f"the model returned a state of shape {hidden.shape}, not a vector a token")
    last: Vectors = hidden[:, -1]
    return last


def unit_rows(vectors: Vectors, dimensions: int) -> Vectors:
    """The vectors scaled to length one.

    Raises:
        EmbeddingError: For a wrong number of dimensions, and for rows without a direction (NaN,
            infinite, all zero), which would silently rank as anything.
    """
    if vectors.ndim != 2 or vectors.shape[1] != dimensions:
        raise EmbeddingError(
            f"the model returned vectors of shape {vectors.shape}, not of {dimensions} columns"
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        bad = int(np.count_nonzero(~(np.isfinite(lengths) & (lengths > 0))))
        raise EmbeddingError(
            f"the model returned {bad} of {len(vectors)} vectors without a direction (NaN or zero)"
        )
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit


def stacked(rows: Iterable[Vectors], dimensions: int) -> Vectors:
    """Rows of several texts as one matrix, of no text as well."""
    return np.concatenate([np.empty((0, dimensions), dtype=np.float32), *rows])
