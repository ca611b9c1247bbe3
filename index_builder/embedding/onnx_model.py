"""A text encoder in ONNX: token ids of one text in, a vector a token (or one for the text) out.

One text at a time, without padding. On a CPU this is also the fastest way to embed many: threads that
share a session with one internal thread each do 7,500 tokens a second on two cores with MiniLM in int8,
padded batches of 8 on the session's own two threads 5,900, and no batch changes a vector.

What a graph takes and gives is read from its session: exporters differ in whether they want positions,
token types or empty caches of earlier tokens, and in the name and type of what they return.
"""

import json
import mmap
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import onnxruntime

from index_builder.errors import EmbeddingError, InputError

Hidden = npt.NDArray[np.float32]
Row = npt.NDArray[np.int64]

FROM_IDS: Mapping[str, Callable[[Row], Row]] = MappingProxyType(
    {
        "input_ids": lambda ids: ids,
        "attention_mask": np.ones_like,
        "token_type_ids": np.zeros_like,
        "position_ids": lambda ids: np.arange(ids.size, dtype=np.int64)[None],
    }
)
"""Inputs that follow from the ids of one text without padding."""
CACHE = re.compile(r"past_key_values\.\d+\.(?:key|value)")
OUTPUTS = ("last_hidden_state", "hidden_states", "token_embeddings", "sentence_embedding")
"""Names of what is embedded with, the first that a graph has; the last one is pooled by the graph."""
LOCATION = re.compile(rb"\n\x08location\x12(?=([\x01-\x7f].{1,127}))", re.DOTALL)
"""An entry of a tensor's ``external_data`` in ONNX's wire format: its key, then the value with its length."""
NUMBERS = MappingProxyType({"tensor(float)": np.float32, "tensor(float16)": np.float16})


class OnnxEncoder:
    """An open session; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Open the model file.

        Raises:
            InputError: When it cannot be opened, or has other inputs or outputs than an encoder.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # a run that fails says so once, in its exception
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its exceptions share no public base class
            raise InputError(f"{path} cannot be opened as an ONNX model: {error}") from error
        nodes = {node.name: node for node in self._session.get_inputs()}
        self._caches = {name: _empty(node, path) for name, node in nodes.items() if CACHE.fullmatch(name)}
        self._inputs = nodes.keys() - self._caches.keys()
        if "input_ids" not in self._inputs or self._inputs - FROM_IDS.keys():
            raise InputError(f"{path} takes {', '.join(sorted(nodes))}, which is not what an encoder takes")
        given = {node.name: node.type for node in self._session.get_outputs()}
        found = next((name for name in OUTPUTS if given.get(name) in NUMBERS), None)
        if found is None:
            shown = ", ".join(f"{name} {kind}" for name, kind in given.items() if "present" not in name)
            raise InputError(f"{path} has no output of floats named {', '.join(OUTPUTS)}; it gives {shown}")
        self._output = found

    def hidden(self, ids: Sequence[int]) -> Hidden:
        """What the model makes of one text: [1, tokens, dimensions], or [1, dimensions] if it pools.

        Raises:
            EmbeddingError: When the model fails on it.
        """
        row = np.array([ids], dtype=np.int64)
        values = {name: FROM_IDS[name](row) for name in self._inputs}
        try:
            (hidden,) = self._session.run([self._output], values | self._caches)
        except Exception as error:
            raise EmbeddingError(f"the embedding model failed on {len(ids)} tokens: {error}") from error
        state: Hidden = hidden.astype(np.float32, copy=False)
        return state


def external_files(path: Path) -> list[str]:
    """Names of the files beside a model file that hold its weights, as it states them itself."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return sorted({found[1][1 : found[1][0] + 1].decode() for found in LOCATION.finditer(content)})


def _empty(node: onnxruntime.NodeArg, path: Path) -> npt.NDArray[np.floating]:
    """A cache of no earlier token: [1, heads, 0, size of a head]."""
    _, heads, _, size = node.shape
    if not isinstance(size, int):
        size = _head_size(path.parent)
    if not isinstance(heads, int) or size is None or node.type not in NUMBERS:
        raise InputError(f"{path} does not say how large its input {node.name} is: {node.type} {node.shape}")
    return np.zeros((1, heads, 0, size), dtype=NUMBERS[node.type])


def _head_size(folder: Path) -> int | None:
    """What the settings of the onnxruntime-genai builder say, whose graphs leave this axis open."""
    try:
        settings = json.loads((folder / "genai_config.json").read_bytes())
    except (OSError, ValueError):
        return None
    size = settings
    for key in ("model", "decoder", "head_size"):
        size = size.get(key) if isinstance(size, dict) else None
    return size if isinstance(size, int) else None
