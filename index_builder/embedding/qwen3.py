"""Qwen3-Embedding through ONNX, from a folder with ``model.onnx`` (and its weights) and ``tokenizer.json``.

The folder comes from ``readgate index export-qwen3`` or is a published one. A text closes with
``<|endoftext|>``, whose vector is that of the text; the chat tokenizer that the models share does not add
it. A query carries an instruction, a document is embedded bare: both as the authors of the model do.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from index_builder.embedding.onnx_model import OnnxEncoder, external_files
from index_builder.embedding.pooling import Vectors, last_token, stacked, unit_rows
from index_builder.embedding.tokenizer import TextTokenizer
from index_builder.errors import EmbeddingError, InputError

MODEL, TOKENIZER, EXPORT, CONFIG = "model.onnx", "tokenizer.json", "export.json", "config.json"
END = "<|endoftext|>"
QUERY = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:{query}"
MAX_TOKENS = 2048
"""The model takes 32,768, but attention on a CPU then keeps the product of all tokens with all: 0.5 GB a
thread at 2,048, four times that at twice the length."""
LEAST_DIMENSIONS = 32
LEAST_VOCABULARY = 0.9
"""Of the rows of the model's table of tokens, a few of which have no token."""


class Qwen3:
    """The embedder; vectors do not depend on what else is embedded, before or beside.

    Attributes:
        name: Which model it is, wherever its folder stands.
        spec: What commands call it.
        dimensions: Of its vectors.
        max_tokens: Where a text is cut.
    """

    name = "qwen3"
    max_tokens = MAX_TOKENS

    def __init__(self, folder: Path, dimensions: int | None) -> None:
        """Open the folder; as ``qwen3``."""
        self.spec = f"qwen3:{folder}"
        self._folder = folder
        self._model = next(
            (path for path in (folder / MODEL, folder / "onnx" / MODEL) if path.is_file()), folder / MODEL
        )
        if not self._model.is_file():
            raise InputError(f"{folder} holds no {MODEL}; `readgate index export-qwen3` makes such a folder")
        self._tokenizer = TextTokenizer(folder / TOKENIZER, MAX_TOKENS, END)
        self._refuse_another_tokenizer()
        self._encoder = OnnxEncoder(self._model)
        self._full = self._size()
        self.dimensions = self._full if dimensions is None else dimensions
        if not LEAST_DIMENSIONS <= self.dimensions <= self._full:
            raise InputError(
                f"{folder} gives vectors of {LEAST_DIMENSIONS} to {self._full} dimensions, not {dimensions}"
            )

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Name and sha256 of the model, its weights and its tokenizer; read once, when first asked for."""
        weights = [self._model.parent / name for name in external_files(self._model)]
        return {path.name: file_sha256(path) for path in (self._model, *weights, self._folder / TOKENIZER)}

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors [texts, dimensions]; a text is cut after ``max_tokens``."""
        return stacked(map(self._embed, texts), self.dimensions)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of the texts as web search queries."""
        return self.embed_documents([QUERY.format(query=text) for text in texts])

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each of the texts has as a document before it is cut."""
        return self._tokenizer.token_counts(texts)

    def _embed(self, text: str) -> Vectors:
        whole = unit_rows(last_token(self._encoder.hidden(self._tokenizer.ids(text))), self._full)
        return unit_rows(whole[:, : self.dimensions], self.dimensions)

    def _size(self) -> int:
        """The dimensions of the model, which has to know the tokenizer's highest token."""
        highest = self._tokenizer.vocabulary_size - 1
        try:
            size: int = last_token(self._encoder.hidden([highest])).shape[1]
        except EmbeddingError as error:
            raise InputError(
                f"{self._folder}: the model does not take token {highest}, the highest of {TOKENIZER}: "
                f"one of the two belongs to another model ({error})"
            ) from error
        return size

    def _refuse_another_tokenizer(self) -> None:
        """Where an export says which tokenizer it was made with, it has to be that one."""
        try:
            told = json.loads((self._folder / EXPORT).read_bytes())["tokenizer_sha256"]
        except FileNotFoundError:
            self._refuse_a_much_smaller_tokenizer()
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self._folder / EXPORT} is not what an export writes: {error}") from error
        if file_sha256(self._folder / TOKENIZER) != told:
            raise InputError(f"{self._folder / TOKENIZER} is not the tokenizer this model was exported with")

    def _refuse_a_much_smaller_tokenizer(self) -> None:
        """Published models come with ``config.json``, which counts the tokens, those of no use included."""
        try:
            told = json.loads((self._folder / CONFIG).read_bytes())["vocab_size"]
        except (OSError, ValueError, KeyError, TypeError):
            return
        held = self._tokenizer.vocabulary_size
        if isinstance(told, int) and held < LEAST_VOCABULARY * told:
            raise InputError(
                f"{self._folder / TOKENIZER} holds {held} tokens and {CONFIG} counts {told}: "
                "it is the tokenizer of another model"
            )


def qwen3(folder: Path, dimensions: int | None = None) -> Qwen3:
    """Open a folder with a Qwen3 embedding model.

    Args:
        folder: Holds ``model.onnx`` (or ``onnx/model.onnx``), its weights, and ``tokenizer.json``.
        dimensions: Keep that many of each vector's and scale again; absent = all.

    Raises:
        InputError: When a file is absent or belongs to another model, or the dimensions are not to be had.
    """
    return Qwen3(folder, dimensions)


def file_sha256(path: Path) -> str:
    """Of a file of any size."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
