"""Embedders are opened by name, once."""

import pytest

from index_builder.embedding.embedder import open_embedder
from index_builder.embedding.hashed_words import HashedWords
from index_builder.errors import InputError


def test_an_embedder_is_opened_by_its_name_and_only_once() -> None:
    first = open_embedder("hashed_words")
    assert isinstance(first, HashedWords)
    assert open_embedder("hashed_words") is first


def test_the_packaged_model_goes_by_the_name_minilm() -> None:
    model = open_embedder("minilm")
    assert (model.name, model.dimensions) == ("minilm", 384)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="'minilmm'; known: hashed_words, minilm, or none"):
        open_embedder("minilmm")
