"""Embedders are opened by what commands call them, once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from index_builder.embedding.embedder import open_embedder
from index_builder.embedding.hashed_words import HashedWords
from index_builder.errors import InputError


def test_an_embedder_is_opened_by_its_name_and_only_once() -> None:
    first = open_embedder("hashed_words")
    assert isinstance(first, HashedWords)
    assert open_embedder("hashed_words", 64) is first


def test_the_packaged_model_goes_by_the_name_minilm() -> None:
    model = open_embedder("minilm")
    assert (model.name, model.spec, model.dimensions, model.max_tokens) == ("minilm", "minilm", 384, 256)


def test_a_folder_of_qwen3_goes_by_its_place_with_the_dimensions_asked_for(
    tiny: Callable[[str], Path],
) -> None:
    spec = f"qwen3:{tiny('fused')}"
    model = open_embedder(spec, 32)
    assert (model.name, model.spec, model.dimensions, model.max_tokens) == ("qwen3", spec, 32, 2048)
    assert open_embedder(spec, 32) is model
    assert open_embedder(spec) is not model


def test_dimensions_that_a_model_does_not_give_are_refused() -> None:
    with pytest.raises(InputError, match="minilm gives vectors of 384 dimensions, not 256"):
        open_embedder("minilm", 256)


def test_a_folder_that_is_not_there_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"^{tmp_path}/gone is no folder; put the model of qwen3:gone, or"):
        open_embedder("qwen3:gone")


@pytest.mark.parametrize("spec", ["minilmm", "qwen3", "qwen3:", "minilm:there"])
def test_an_unknown_name_is_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(InputError, match=f"'{spec}'; known: minilm, qwen3:DIR, or none"):
        open_embedder(spec)
