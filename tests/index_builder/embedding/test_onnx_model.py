"""The ONNX session: what it accepts as an encoder, and how it fails."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from index_builder.embedding.minilm import MODEL, locate
from index_builder.embedding.onnx_model import OnnxEncoder
from index_builder.errors import EmbeddingError, InputError

FLOAT, INT64 = 1, 7


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number: int, payload: bytes | int) -> bytes:
    """A protobuf field: a number, or bytes with their length."""
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def value(name: str, kind: int) -> bytes:
    shape = b"".join(field(1, field(2, axis)) for axis in (b"batch", b"tokens"))
    tensor = field(1, kind) + field(2, shape)
    return field(1, name.encode()) + field(2, field(1, tensor))


def model(path: Path, takes: str, gives: str) -> Path:
    """A model that casts its input to float, in ONNX's wire format."""
    attribute = field(1, b"to") + field(3, FLOAT) + field(20, 2)
    node = field(1, takes.encode()) + field(2, gives.encode()) + field(4, b"Cast") + field(5, attribute)
    graph = field(1, node) + field(2, b"g") + field(11, value(takes, INT64)) + field(12, value(gives, FLOAT))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 13)))
    return path


def test_states_of_a_model_that_takes_only_ids_are_returned(tmp_path: Path) -> None:
    encoder = OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", "last_hidden_state"))
    assert encoder.hidden([5, 7]).tolist() == [[5.0, 7.0]]


def test_a_model_that_needs_other_inputs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes pixel_values"):
        OnnxEncoder(model(tmp_path / "m.onnx", "pixel_values", "last_hidden_state"))


def test_a_model_without_a_hidden_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no output named last_hidden_state"):
        OnnxEncoder(model(tmp_path / "m.onnx", "input_ids", "logits"))


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
