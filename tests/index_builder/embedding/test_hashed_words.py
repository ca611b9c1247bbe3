"""The fake embedder behaves as an embedder does."""

import numpy as np
import pytest

from index_builder.embedding.hashed_words import HashedWords


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    query, near, far = HashedWords().embed_documents(["red fox", "the red fox", "blue whale songs"])
    assert query @ near > query @ far


def test_rows_are_unit_and_do_not_depend_on_their_batch() -> None:
    texts = ["one", "two words", "", "\ud800"]
    rows = HashedWords().embed_documents(texts)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1)
    assert np.array_equal(rows, np.concatenate([HashedWords().embed_queries([text]) for text in texts]))


def test_long_texts_are_cut_and_counted() -> None:
    embedder = HashedWords()
    long = "w " * 200
    assert np.array_equal(*embedder.embed_documents([long, long + "other"])[:, None])
    assert embedder.token_counts([long, long + "other"]) == [embedder.max_tokens, embedder.max_tokens + 1]
