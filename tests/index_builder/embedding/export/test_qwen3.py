"""The export from beginning to end, with makers that hand over the tiny graphs instead of making them."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from index_builder.embedding.export.graphs import GraphError, Vectors
from index_builder.embedding.export.parity import NATURAL
from index_builder.embedding.export.qwen3 import MAKERS, Maker, Makers, export_qwen3
from index_builder.embedding.onnx_model import OnnxEncoder
from index_builder.embedding.pooling import last_token, unit_rows
from index_builder.embedding.qwen3 import qwen3
from index_builder.errors import InputError

Tiny = Callable[[str], Path]

CONFIG = {"model_type": "qwen3", "vocab_size": 262, "max_position_embeddings": 256}


@pytest.fixture
def weights(tmp_path: Path, tiny: Tiny) -> Path:
    """A folder as of Hugging Face, but for the weights themselves."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    shutil.copyfile(tiny("dynamo") / "tokenizer.json", folder / "tokenizer.json")
    return folder


@pytest.fixture
def makers(weights: Path, tiny: Tiny) -> Makers:
    """Makers whose fused graph, and its int8 form, are of the network that gives the expected vectors."""
    encoder = OnnxEncoder(weights.with_name("dynamo") / "model.onnx")

    def reference(_model: Path, texts: list[list[int]]) -> Vectors:
        return unit_rows(np.concatenate([last_token(encoder.hidden(ids)) for ids in texts]), 40)

    fused, int8 = handing_over(tiny("fused")), handing_over(tiny("int8"))
    return Makers(reference, {"fused": fused}, lambda source, folder, _whole: int8(source, folder))


def handing_over(made: Path) -> Maker:
    def hand_over(_source: Path, folder: Path) -> None:
        for path in made.iterdir():
            if path.name != "tokenizer.json":
                shutil.copyfile(path, folder / path.name)

    return hand_over


def spoiling(makers: Makers, needs: int) -> Makers:
    """The int8 graph is right only when so many layers stay whole; else its weights are in disorder."""

    def quantise(source: Path, folder: Path, whole: Sequence[str]) -> None:
        makers.quantise(source, folder, whole)
        if len(whole) < needs:
            disorder(folder / "int8.data")

    return replace(makers, quantise=quantise)


def disorder(data: Path) -> None:
    numbers = np.frombuffer(data.read_bytes(), dtype=np.float32)
    data.write_bytes(np.roll(numbers, 7).tobytes())


def broken(_source: Path, _folder: Path) -> None:
    raise GraphError("it does not know this model")


def wrong(makers: Makers) -> Maker:
    def make(source: Path, folder: Path) -> None:
        makers.graphs["fused"](source, folder)
        disorder(folder / "genai.data")

    return make


def unreadable(_source: Path, folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"no model")


def ignored(_stage: str, _done: int, _total: int, _detail: str) -> None:
    return


class Told:
    """What a progress was told at the end of each stage."""

    def __init__(self) -> None:
        self.details: dict[str, str] = {}

    def __call__(self, stage: str, done: int, total: int, detail: str) -> None:
        if done == total:
            self.details[stage] = detail


def assert_nothing_stands_beside(weights: Path) -> None:
    assert {path.name for path in weights.parent.iterdir()} == {"weights", "dynamo", "fused", "int8"}


def test_what_was_exported_opens_and_says_how_near_it_is(
    weights: Path, makers: Makers, tmp_path: Path
) -> None:
    told = Told()
    out = tmp_path / "made" / "model"
    exported = export_qwen3(weights, out, int8=False, progress=told, makers=makers)
    assert (exported.graph, exported.precision, exported.whole) == ("fused", "fp32", ())
    assert exported.difference <= 1e-5
    assert exported.cosine == pytest.approx(1)
    # Ten random texts of 1 to 256 tokens (512 would be beyond the model), and the natural ones.
    assert (exported.texts, exported.longest) == (10 + len(NATURAL), 256)
    assert exported.packages["onnxruntime"]
    assert list(told.details) == ["transformers", "fused graph"]
    model = qwen3(out)
    assert model.embed_documents(["Who?"]).shape == (1, 40)
    written = {"model.onnx", "genai.data", "tokenizer.json", "export.json"}
    assert {path.name: path.stat().st_mode & 0o777 for path in out.iterdir()} == dict.fromkeys(written, 0o644)
    assert [path.name for path in out.parent.iterdir()] == ["model"]
    said = json.loads((out / "export.json").read_bytes())
    assert (said["graph"], said["tokenizer_sha256"]) == ("fused", model.files["tokenizer.json"])


def test_int8_comes_after_a_graph_in_float32_that_is_right(
    weights: Path, makers: Makers, tmp_path: Path
) -> None:
    exported = export_qwen3(weights, tmp_path / "out", int8=True, progress=ignored, makers=makers)
    assert (exported.graph, exported.precision, exported.whole) == ("fused", "int8", ())
    assert exported.difference <= 1e-5
    assert 0.97 <= exported.cosine < 0.9999
    assert set(qwen3(tmp_path / "out").files) == {"model.onnx", "int8.data", "tokenizer.json"}


def test_layers_stay_in_float32_while_int8_is_too_coarse(
    weights: Path, makers: Makers, tmp_path: Path
) -> None:
    told = Told()
    exported = export_qwen3(
        weights, tmp_path / "out", int8=True, progress=told, makers=spoiling(makers, needs=1)
    )
    assert exported.whole == ("down_proj",)
    assert exported.cosine >= 0.97
    assert told.details["int8"].startswith("the least cosine is ")
    assert told.details["int8 without down_proj"].startswith("least cosine 0.99")


def test_int8_that_stays_too_coarse_is_refused(weights: Path, makers: Makers, tmp_path: Path) -> None:
    hopeless = spoiling(makers, needs=3)
    with pytest.raises(InputError, match=r"int8 is too far .*, nothing is written: the least cosine is "):
        export_qwen3(weights, tmp_path / "out", int8=True, progress=ignored, makers=hopeless)
    assert_nothing_stands_beside(weights)


def test_the_next_graph_is_taken_where_one_cannot_be_had_or_is_wrong(
    weights: Path, makers: Makers, tmp_path: Path
) -> None:
    right = makers.graphs["fused"]
    several = {
        "first": broken,
        "second": wrong(makers),
        "third": unreadable,
        "fourth": right,
        "fifth": broken,
    }
    exported = export_qwen3(
        weights, tmp_path / "out", int8=False, progress=ignored, makers=replace(makers, graphs=several)
    )
    assert exported.graph == "fourth"
    assert list(exported.passed_over) == ["first", "second", "third"]
    assert exported.passed_over["first"] == "it does not know this model"
    assert exported.passed_over["second"].startswith("vectors differ by ")
    assert "cannot be opened as an ONNX model" in exported.passed_over["third"]
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"model.onnx", "genai.data"}


def test_without_a_right_graph_nothing_is_written(weights: Path, makers: Makers, tmp_path: Path) -> None:
    bad: Mapping[str, Maker] = {"fused": broken, "dynamo": wrong(makers)}
    with pytest.raises(
        InputError, match=r"nothing is written: fused: it does not know .*; dynamo: vectors differ"
    ):
        export_qwen3(
            weights, tmp_path / "out", int8=False, progress=ignored, makers=replace(makers, graphs=bad)
        )
    assert_nothing_stands_beside(weights)


def test_weights_of_nan_are_near_to_no_graph(weights: Path, makers: Makers, tmp_path: Path) -> None:
    nan = replace(makers, reference=lambda _model, texts: np.full((len(texts), 40), np.nan, np.float32))
    with pytest.raises(InputError, match="vectors differ by nan"):
        export_qwen3(weights, tmp_path / "out", int8=False, progress=ignored, makers=nan)
    assert_nothing_stands_beside(weights)


def test_a_place_that_is_taken_is_left_alone(weights: Path, makers: Makers, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(InputError, match="out exists already; remove it or choose another place"):
        export_qwen3(weights, out, int8=False, progress=ignored, makers=makers)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("config", [None, "{", "[]", '{"model_type": "qwen3"}', '{"vocab_size": "many"}'])
def test_a_folder_without_a_model_is_refused(
    weights: Path, makers: Makers, tmp_path: Path, config: str | None
) -> None:
    (weights / "config.json").unlink()
    if config is not None:
        (weights / "config.json").write_text(config)
    with pytest.raises(InputError, match=r"weights holds no config\.json of a Hugging Face model"):
        export_qwen3(weights, tmp_path / "out", int8=False, progress=ignored, makers=makers)


def test_another_kind_of_model_is_refused(weights: Path, makers: Makers, tmp_path: Path) -> None:
    (weights / "config.json").write_text(json.dumps(CONFIG | {"model_type": "bert"}))
    with pytest.raises(InputError, match="a model of type 'bert', not 'qwen3'"):
        export_qwen3(weights, tmp_path / "out", int8=False, progress=ignored, makers=makers)


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(
    weights: Path, makers: Makers, tmp_path: Path
) -> None:
    tokenizer = Tokenizer.from_file(str(weights / "tokenizer.json"))
    tokenizer.add_tokens(["one_more"])
    tokenizer.save(str(weights / "tokenizer.json"))
    with pytest.raises(InputError, match="of another model: it knows 263 tokens, the model 262"):
        export_qwen3(weights, tmp_path / "out", int8=False, progress=ignored, makers=makers)


def test_the_fused_graph_is_tried_first() -> None:
    assert list(MAKERS.graphs) == ["fused", "dynamo"]
