"""Whether a graph gives the vectors of the model it was made from, on texts of varied lengths.

Pure. The texts made here are random token ids: arithmetic has to hold for any input.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

LARGEST_DIFFERENCE = 1e-5
"""Between two numbers of the unit vectors, in float32: sums in another order differ by some 1e-7."""
LEAST_COSINE = 0.97
"""In int8: rounding turns a vector a little, and the order of near neighbours with it."""
LENGTHS = (1, 2, 3, 5, 8, 17, 33, 64, 127, 256, 512)
SEED = 7
NATURAL = (
    "Which engine did the mathematician who corresponded with Ada Lovelace design?",
    "Charles Babbage\nFrom 1834 on he designed the Analytical Engine (never built), which Ada programmed.",
    "東京は日本の首都である。 Столица России — Москва. L'élève a naïvement répondu « non ».",
    "def total(rows):\n    return sum(row['price'] * row['count'] for row in rows if row)\n",
)
"""What a trained model is made for: random ids alone would not show what rounding does to such a model."""


@dataclass(frozen=True, slots=True)
class Parity:
    """How near the vectors of a graph are to those of its model.

    Attributes:
        difference: The largest between two numbers of the unit vectors.
        cosine: The least between two vectors of one text.
    """

    difference: float
    cosine: float

    def problem(self, *, int8: bool) -> str | None:
        """Why the graph is refused, or None; a NaN is never near."""
        if int8:
            near = self.cosine >= LEAST_COSINE
            return None if near else f"the least cosine is {self.cosine:.4f}, below {LEAST_COSINE}"
        near = self.difference <= LARGEST_DIFFERENCE
        return None if near else f"vectors differ by {self.difference:.1e}, above {LARGEST_DIFFERENCE:.0e}"


def varied_texts(vocabulary: int, end: int, longest: int) -> list[list[int]]:
    """Token ids of texts from a lone end token to a long one, the same ones at every call.

    Args:
        vocabulary: The ids are below it.
        end: The id that closes every text.
        longest: Longer texts are left out.
    """
    draw = np.random.default_rng(SEED)
    return [
        [*draw.integers(0, vocabulary, length - 1).tolist(), end] for length in LENGTHS if length <= longest
    ]


def compare(expected: Vectors, got: Vectors) -> Parity:
    """Compare unit vectors, row by row."""
    cosines = (expected.astype(np.float64) * got).sum(axis=1)
    return Parity(difference=float(np.abs(expected - got).max()), cosine=float(cosines.min()))
