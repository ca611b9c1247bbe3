"""The ONNX session: what it accepts as an encoder, what it feeds one, and how it fails."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from index_builder.embedding.minilm import MODEL, locate
from index_builder.embedding.onnx_model import FROM_IDS, OnnxEncoder, external_files
from index_builder.errors import EmbeddingError, InputError

FLOAT, INT64, FLOAT16 = 1, 7, 10


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number: int, payload: bytes | int) -> bytes:
    """A protobuf field: a number, or bytes with their length."""
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def value(name: str, kind: int, shape: Sequence[str | int] = ("batch", "tokens")) -> bytes:
    axes = (field(2, axis.encode()) if isinstance(axis, str) else field(1, axis) for axis in shape)
    tensor = field(1, kind) + field(2, b"".join(field(1, axis) for axis in axes))
    return field(1, name.encode()) + field(2, field(1, tensor))


def model(path: Path, takes: str, gives: str, kind: int = FLOAT, more: Sequence[bytes] = ()) -> Path:
    """A model that casts an input to another kind, in ONNX's wire format; it only takes ``more``."""
    attribute = field(1, b"to") + field(3, kind) + field(20, 2)
    node = field(1, takes.encode()) + field(2, gives.encode()) + field(4, b"Cast") + field(5, attribute)
    names = dict.fromkeys(("input_ids", takes)) if takes in FROM_IDS else (takes,)
    inputs = [*(value(name, INT64) for name in names), *more]
    graph = field(1, node) + field(2, b"g") + b"".join(field(11, each) for each in inputs)
    path.write_bytes(field(1, 8) + field(7, graph + field(12, value(gives, kind))) + field(8, field(2, 13)))
    return path


def test_states_of_a_model_that_takes_only_ids_are_returned(tmp_path: Path) -> None:
    encoder = OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", "last_hidden_state"))
    assert encoder.hidden([5, 7]).tolist() == [[5.0, 7.0]]


@pytest.mark.parametrize(
    ("takes", "fed"),
    [
        ("attention_mask", [1.0, 1.0, 1.0]),
        ("token_type_ids", [0.0, 0.0, 0.0]),
        ("position_ids", [0.0, 1.0, 2.0]),
    ],
)
def test_what_follows_from_the_ids_is_fed_to_whom_it_concerns(
    tmp_path: Path, takes: str, fed: list[float]
) -> None:
    assert OnnxEncoder(model(tmp_path / "m.onnx", takes, "hidden_states")).hidden([5, 7, 9]).tolist() == [fed]


@pytest.mark.parametrize(
    "gives", ["last_hidden_state", "hidden_states", "token_embeddings", "sentence_embedding"]
)
def test_the_output_is_known_by_its_name_and_comes_in_float32(tmp_path: Path, gives: str) -> None:
    encoder = OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", gives, FLOAT16))
    assert encoder.hidden([5, 7]).dtype == np.float32
    assert encoder.hidden([5, 7]).tolist() == [[5.0, 7.0]]


def test_caches_of_earlier_tokens_are_fed_empty(tmp_path: Path) -> None:
    caches = [
        value(f"past_key_values.0.{part}", FLOAT16, ("batch", 8, "past", 128)) for part in ("key", "value")
    ]
    encoder = OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", "last_hidden_state", more=caches))
    assert encoder.hidden([5, 7]).tolist() == [[5.0, 7.0]]
    assert {name: (cache.shape, cache.dtype.name) for name, cache in encoder._caches.items()} == {
        "past_key_values.0.key": ((1, 8, 0, 128), "float16"),
        "past_key_values.0.value": ((1, 8, 0, 128), "float16"),
    }


def test_a_cache_of_open_size_is_looked_up_beside_the_model_or_refused(tmp_path: Path) -> None:
    cache = value("past_key_values.0.key", FLOAT, ("batch", 8, "past", "kv_cache_dim"))
    path = model(tmp_path / "m.onnx", "input_ids", "last_hidden_state", more=[cache])
    settings = tmp_path / "genai_config.json"
    for said in (None, "{", "[]", '{"model": {"decoder": 7}}'):
        if said is not None:
            settings.write_text(said)
        with pytest.raises(InputError, match=r"does not say how large its input past_key_values\.0\.key is"):
            OnnxEncoder(path)
    settings.write_text('{"model": {"decoder": {"head_size": 64}}}')
    assert OnnxEncoder(path)._caches["past_key_values.0.key"].shape == (1, 8, 0, 64)


def test_a_model_that_needs_other_inputs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes pixel_values"):
        OnnxEncoder(model(tmp_path / "m.onnx", "pixel_values", "last_hidden_state"))
    more = [value("past_key_values.0.encoder.key", FLOAT)]
    with pytest.raises(InputError, match=r"takes input_ids, past_key_values\.0\.encoder\.key, which is not"):
        OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", "last_hidden_state", more=more))


def test_a_model_without_states_is_refused_with_what_it_gives(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no output of floats .*; it gives logits tensor\(float\)$"):
        OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", "logits"))
    with pytest.raises(InputError, match=r"it gives sentence_embedding tensor\(int64\)$"):
        OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", "sentence_embedding", INT64))


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"not a model")
    for name in ("m.onnx", "absent.onnx"):
        with pytest.raises(InputError, match="cannot be opened as an ONNX model"):
            OnnxEncoder(tmp_path / name)


def test_a_model_that_fails_says_on_what() -> None:
    with pytest.raises(EmbeddingError, match="failed on 2 tokens"):
        OnnxEncoder(locate(MODEL)).hidden([101, 10_000_000])


@pytest.mark.parametrize("order", ["onnxruntime, usearch.index", "usearch.index, onnxruntime"])
def test_onnxruntime_and_usearch_live_in_one_process_in_either_order(order: str) -> None:
    program = (
        f"import {order}\n"
        "from index_builder.embedding.minilm import MODEL, locate\n"
        "from index_builder.embedding.onnx_model import OnnxEncoder\n"
        "import numpy, usearch.index\n"
        "hidden = OnnxEncoder(locate(MODEL)).hidden([101, 102])\n"
        "index = usearch.index.Index(ndim=384)\n"
        "index.add(7, hidden[0, 0])\n"
        "print(index.search(hidden[0, 0], 1).keys.tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[7]\n"), done.stderr


def test_one_session_serves_several_threads_alike() -> None:
    encoder = OnnxEncoder(locate(MODEL))
    first, second = encoder.hidden([101, 2054, 102]), encoder.hidden([101, 2054, 102])
    assert first.shape == (1, 3, 384)
    assert np.array_equal(first, second)


def test_opening_and_running_a_model_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    program = (
        "from index_builder.embedding.minilm import MODEL, locate\n"
        "from index_builder.embedding.onnx_model import OnnxEncoder\n"
        "OnnxEncoder(locate(MODEL)).hidden([101, 102])\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []


def test_the_files_of_weights_are_those_the_model_names(tmp_path: Path) -> None:
    def entry(key: str, value: str) -> bytes:
        return field(13, field(1, key.encode()) + field(2, value.encode()))

    weights = [entry("location", name) + entry("offset", "0") for name in ("b.data", "a.data", "b.data")]
    path = tmp_path / "m.onnx"
    path.write_bytes(b"".join(field(5, each) for each in weights))
    assert external_files(path) == ["a.data", "b.data"]
    assert external_files(model(path, "input_ids", "last_hidden_state")) == []
