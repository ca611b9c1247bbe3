"""Means and unit rows, and what is refused as no embedding."""

import numpy as np
import pytest

from index_builder.embedding.pooling import last_token, mean_pool, stacked, unit_rows
from index_builder.errors import EmbeddingError


def test_the_mean_is_over_tokens() -> None:
    hidden = np.array([[[1, 2], [3, 6]]], dtype=np.float32)
    assert mean_pool(hidden).tolist() == [[2.0, 4.0]]


def test_the_last_token_is_the_last_place() -> None:
    hidden = np.array([[[1, 2], [3, 6]], [[5, 5], [7, 8]]], dtype=np.float32)
    assert last_token(hidden).tolist() == [[3.0, 6.0], [7.0, 8.0]]
    # What a graph has pooled itself is not pooled again.
    assert last_token(hidden[0]).tolist() == [[1.0, 2.0], [3.0, 6.0]]


@pytest.mark.parametrize("shape", [(1, 0, 4), (4,)])
def test_a_state_without_a_last_token_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(EmbeddingError, match="not a vector a token"):
        last_token(np.zeros(shape, dtype=np.float32))


@pytest.mark.parametrize("shape", [(1, 0, 4), (2, 4)])
def test_a_state_without_tokens_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(EmbeddingError, match="not a vector a token"):
        mean_pool(np.zeros(shape, dtype=np.float32))


def test_rows_get_length_one_and_keep_their_direction() -> None:
    # 3-4-5: (3, 4) / 5
    unit = unit_rows(np.array([[3, 4], [0, -2]], dtype=np.float32), 2)
    assert unit.dtype == np.float32
    assert unit.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, -1.0]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_row_without_direction_is_refused(bad: float) -> None:
    with pytest.raises(EmbeddingError, match="1 of 2 vectors"):
        unit_rows(np.array([[1, 1], [bad, bad]], dtype=np.float32), 2)


@pytest.mark.parametrize("shape", [(2, 3), (4,)])
def test_a_wrong_number_of_dimensions_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(EmbeddingError, match="not of 4 columns"):
        unit_rows(np.ones(shape, dtype=np.float32), 4)


def test_rows_of_several_texts_are_stacked_in_order_and_no_rows_make_an_empty_matrix() -> None:
    rows = [np.array([[1, 0]], dtype=np.float32), np.array([[0, 1]], dtype=np.float32)]
    assert stacked(iter(rows), 2).tolist() == [[1, 0], [0, 1]]
    assert stacked([], 2).shape == (0, 2)
