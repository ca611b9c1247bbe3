"""How near vectors are, and the texts they are compared on."""

import numpy as np
import pytest

from index_builder.embedding.export.parity import LEAST_COSINE, Parity, compare, varied_texts


def test_texts_go_from_a_lone_end_token_to_long_ones_and_are_always_the_same() -> None:
    texts = varied_texts(vocabulary=50, end=49, longest=256)
    assert [len(text) for text in texts] == [1, 2, 3, 5, 8, 17, 33, 64, 127, 256]
    assert {text[-1] for text in texts} == {49}
    assert {token for text in texts for token in text} == set(range(50))
    assert texts == varied_texts(vocabulary=50, end=49, longest=256)
    assert [len(text) for text in varied_texts(vocabulary=50, end=49, longest=4)] == [1, 2, 3]


def test_the_largest_difference_and_the_least_cosine_are_found() -> None:
    # Second row: (1, 0) beside (0.6, 0.8): differences 0.4 and 0.8, cosine 0.6.
    parity = compare(np.array([[0, 1], [1, 0]], np.float32), np.array([[0, 1], [0.6, 0.8]], np.float32))
    assert parity.difference == pytest.approx(0.8)
    assert parity.cosine == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("parity", "fp32", "int8"),
    [
        (Parity(1e-5, 1.0), None, None),
        (Parity(2e-5, 1.0), "vectors differ by 2.0e-05, above 1e-05", None),
        (Parity(0.3, LEAST_COSINE), "vectors differ by 3.0e-01, above 1e-05", None),
        (
            Parity(0.3, 0.5),
            "vectors differ by 3.0e-01, above 1e-05",
            "the least cosine is 0.5000, below 0.97",
        ),
        (
            Parity(float("nan"), float("nan")),
            "vectors differ by nan, above 1e-05",
            "the least cosine is nan, below 0.97",
        ),
    ],
)
def test_a_graph_is_refused_above_the_stated_difference(
    parity: Parity, fp32: str | None, int8: str | None
) -> None:
    assert parity.problem(int8=False) == fp32
    assert parity.problem(int8=True) == int8
