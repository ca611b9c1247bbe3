"""Qwen3 from a folder: the vectors of transformers by any graph, and what is refused as no such folder.

The graphs and what transformers says of them were made by ``make_tiny_graphs``.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tokenizers import Tokenizer

from index_builder.embedding.minilm import TOKENIZER, locate
from index_builder.embedding.qwen3 import MAX_TOKENS, Qwen3, file_sha256, qwen3
from index_builder.errors import EmbeddingError, InputError

EXPECTED = json.loads(Path(__file__).with_name("tiny").joinpath("expected.json").read_bytes())
TEXTS: list[str] = EXPECTED["texts"]
FULL = 40

Tiny = Callable[[str], Path]


def expected(role: str) -> npt.NDArray[np.float32]:
    return np.array(EXPECTED[role], dtype=np.float32)


@pytest.mark.parametrize("graph", ["fused", "with_caches", "dynamo"])
def test_any_graph_gives_the_vectors_of_transformers(tiny: Tiny, graph: str) -> None:
    model = qwen3(tiny(graph))
    assert np.abs(model.embed_documents(TEXTS) - expected("documents")).max() <= 1e-5
    assert np.abs(model.embed_queries(TEXTS) - expected("queries")).max() <= 1e-5
    # No two of them are alike, so the bounds above say something.
    apart = expected("documents") @ expected("documents").T - np.eye(len(TEXTS))
    assert apart.max() < 0.999


def test_int8_turns_the_vectors_a_little(tiny: Tiny) -> None:
    cosines = (qwen3(tiny("int8")).embed_documents(TEXTS) * expected("documents")).sum(axis=1)
    assert 0.995 < cosines.min() < 0.99999


@pytest.mark.parametrize("graph", ["fused", "int8"])
def test_a_vector_does_not_depend_on_the_texts_beside_it(tiny: Tiny, graph: str) -> None:
    model = qwen3(tiny(graph))
    together = model.embed_documents(TEXTS)
    assert together.dtype == np.float32
    assert np.array_equal(together, np.concatenate([model.embed_documents([text]) for text in TEXTS]))
    assert np.array_equal(together[::-1], model.embed_documents(TEXTS[::-1]))


def test_no_text_gives_no_vector(tiny: Tiny) -> None:
    model = qwen3(tiny("fused"), dimensions=32)
    assert model.embed_documents([]).shape == model.embed_queries([]).shape == (0, 32)


def test_fewer_dimensions_are_the_first_ones_scaled_again(tiny: Tiny) -> None:
    folder = tiny("fused")
    assert (qwen3(folder).dimensions, qwen3(folder, dimensions=FULL).dimensions) == (FULL, FULL)
    short = qwen3(folder, dimensions=33).embed_documents(TEXTS)
    first = expected("documents")[:, :33]
    assert np.abs(short - first / np.linalg.norm(first, axis=1, keepdims=True)).max() <= 1e-5


@pytest.mark.parametrize("dimensions", [0, 31, 41])
def test_dimensions_that_are_not_to_be_had_are_refused(tiny: Tiny, dimensions: int) -> None:
    with pytest.raises(InputError, match=f"vectors of 32 to 40 dimensions, not {dimensions}"):
        qwen3(tiny("fused"), dimensions=dimensions)


def test_a_long_text_is_cut_before_its_end_token_and_counted(tiny: Tiny) -> None:
    model = qwen3(tiny("dynamo"))
    # Each "a" is a token: 2047 of them and the end token fill the model.
    whole = "a" * (MAX_TOKENS - 1)
    assert np.array_equal(*model.embed_documents([whole, whole + "bcd"])[:, None])
    assert model.token_counts([whole, whole + "bcd", ""]) == [MAX_TOKENS, MAX_TOKENS + 3, 1]
    assert model.max_tokens == MAX_TOKENS


def test_it_says_what_it_is_and_of_which_files(tiny: Tiny) -> None:
    folder = tiny("fused")
    model = qwen3(folder)
    assert (model.name, model.spec) == ("qwen3", f"qwen3:{folder}")
    files = dict(model.files)
    assert files == {
        name: file_sha256(folder / name) for name in ("model.onnx", "genai.data", "tokenizer.json")
    }
    with (folder / "genai.data").open("ab") as weights:
        weights.write(b"\0")
    assert dict(model.files) == files
    assert qwen3(folder).files["genai.data"] != files["genai.data"]


def test_the_layout_of_published_models_is_taken(tiny: Tiny) -> None:
    folder = tiny("dynamo")
    (folder / "onnx").mkdir()
    for name in ("model.onnx", "dynamo.data"):
        (folder / name).rename(folder / "onnx" / name)
    model = qwen3(folder)
    assert np.abs(model.embed_documents(TEXTS) - expected("documents")).max() <= 1e-5
    assert set(model.files) == {"model.onnx", "dynamo.data", "tokenizer.json"}


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError, match=r"holds no model\.onnx; `readgate index export-qwen3`"):
            qwen3(folder)


def test_a_model_whose_weights_are_missing_is_refused(tiny: Tiny) -> None:
    folder = tiny("fused")
    (folder / "genai.data").unlink()
    with pytest.raises(InputError, match="cannot be opened as an ONNX model"):
        qwen3(folder)


def test_a_model_of_nan_is_refused(tiny: Tiny) -> None:
    folder = tiny("fused")
    weights = folder / "genai.data"
    weights.write_bytes(np.full(weights.stat().st_size // 4, np.nan, dtype=np.float32).tobytes())
    with pytest.raises(EmbeddingError, match="without a direction"):
        qwen3(folder).embed_queries(["Who?"])


def test_a_tokenizer_without_the_end_token_is_of_another_model(tiny: Tiny) -> None:
    folder = tiny("fused")
    shutil.copyfile(locate(TOKENIZER), folder / "tokenizer.json")
    with pytest.raises(InputError, match=r"of another model: it does not know <\|endoftext\|>"):
        qwen3(folder)


def test_a_tokenizer_with_more_tokens_than_the_model_is_of_another_model(tiny: Tiny) -> None:
    folder = tiny("fused")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    tokenizer.add_tokens(["one_more"])
    tokenizer.save(str(folder / "tokenizer.json"))
    with pytest.raises(InputError, match=f"does not take token {size}, .* belongs to another model"):
        qwen3(folder)


def test_a_tokenizer_of_far_fewer_tokens_than_a_published_model_counts_is_of_another_model(
    tiny: Tiny,
) -> None:
    folder = tiny("fused")
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    (folder / "config.json").write_text(json.dumps({"vocab_size": tokens + 1}), encoding="utf-8")
    assert qwen3(folder).dimensions == FULL
    (folder / "config.json").write_text(json.dumps({"vocab_size": 2 * tokens}), encoding="utf-8")
    with pytest.raises(InputError, match=f"holds {tokens} tokens .* counts {2 * tokens}: .* another model"):
        Qwen3(folder, None)


def test_another_tokenizer_than_at_the_export_is_refused(tiny: Tiny) -> None:
    folder = tiny("fused")
    told = folder / "export.json"
    told.write_text(json.dumps({"tokenizer_sha256": file_sha256(folder / "tokenizer.json")}))
    assert isinstance(qwen3(folder), Qwen3)
    told.write_text(json.dumps({"tokenizer_sha256": "0" * 64}))
    with pytest.raises(InputError, match="not the tokenizer this model was exported with"):
        qwen3(folder)
    told.write_text("[]")
    with pytest.raises(InputError, match=r"export\.json is not what an export writes"):
        qwen3(folder)
