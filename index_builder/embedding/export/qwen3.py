"""The export from beginning to end: makes a graph, checks it against transformers, and puts it in place.

The work goes on in a hidden folder beside the final one. What is found right moves to its place whole; the
rest is removed: no graph that was not checked ever looks finished.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType

import numpy as np

from index_builder.building_folder import building_folder, finish
from index_builder.embedding.export import graphs
from index_builder.embedding.export.graphs import GraphError, Vectors
from index_builder.embedding.export.parity import NATURAL, Parity, compare, varied_texts
from index_builder.embedding.onnx_model import OnnxEncoder
from index_builder.embedding.pooling import last_token, unit_rows
from index_builder.embedding.qwen3 import END, EXPORT, MAX_TOKENS, MODEL, TOKENIZER, file_sha256
from index_builder.embedding.tokenizer import TextTokenizer
from index_builder.errors import EmbeddingError, InputError
from index_builder.records import Progress

Maker = Callable[[Path, Path], None]
Quantiser = Callable[[Path, Path, Sequence[str]], None]
Check = Callable[[Path], Parity]

CONFIG = "config.json"
PACKAGES = ("torch", "transformers", "onnx", "onnxruntime", "onnxruntime-genai")
KIND = "qwen3"
WHOLE = ((), ("down_proj",), ("down_proj", "o_proj"))
"""Layers that an export to int8 leaves in float32: none, and more while rounding the others is too coarse.

Trained models send a few numbers into these that are hundreds of times the rest, and one scale holds all.
"""
READABLE = 0o644  # the packages make some of their files for their owner alone


@dataclass(frozen=True, slots=True)
class Makers:
    """What does the work that needs large packages; tests hand in others.

    Attributes:
        reference: The unit vectors of texts of token ids by the weights in a folder.
        graphs: Makers of an ONNX graph in float32 by their names; the first that passes is taken.
        quantise: Makes an int8 graph of a folder with one in float32, some layers left whole.
    """

    reference: Callable[[Path, list[list[int]]], Vectors]
    graphs: Mapping[str, Maker]
    quantise: Quantiser


MAKERS = Makers(
    graphs.reference,
    MappingProxyType({"fused": graphs.fused, "dynamo": graphs.dynamo}),
    graphs.quantise,
)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported; ``export.json`` beside the model says the same.

    Attributes:
        graph: The maker of the graph.
        precision: ``fp32`` or ``int8``.
        difference: The largest between two numbers of the float32 graph's unit vectors and transformers'.
        cosine: The least between two such vectors, by the graph that was written.
        texts: How many texts were compared.
        longest: Tokens of the longest of them.
        whole: Layers whose products stay in float32, of a model in int8.
        passed_over: Makers tried before, and why they were not taken.
        tokenizer_sha256: Of the tokenizer that came with the weights.
        packages: Versions of what took part.
    """

    graph: str
    precision: str
    difference: float
    cosine: float
    texts: int
    longest: int
    whole: Sequence[str]
    passed_over: Mapping[str, str]
    tokenizer_sha256: str
    packages: Mapping[str, str]


def export_qwen3(
    model: Path, out: Path, *, int8: bool, progress: Progress, makers: Makers = MAKERS
) -> Exported:
    """Export a folder of Hugging Face weights to a folder that ``qwen3`` opens.

    Args:
        model: Holds ``config.json``, the weights and ``tokenizer.json``.
        out: The folder to write; it must not be there yet.
        int8: Round the products to int8 after the graph in float32 was found right.
        progress: Told each stage.
        makers: Do the work.

    Raises:
        InputError: When the folder holds no Qwen3 model, a package is not installed, or no graph gives the
            vectors of transformers within the stated bounds.
    """
    if out.exists():
        raise InputError(f"{out} exists already; remove it or choose another place for the model")
    texts = _texts(model)
    with building_folder(out) as building:
        progress("transformers", 0, len(texts), "")
        expected = makers.reference(model, texts)
        progress("transformers", len(texts), len(texts), "texts")

        def parity(folder: Path) -> Parity:
            return compare(expected, _vectors(folder, texts, expected.shape[1]))

        name, found, passed_over = _first_right(model, building, makers.graphs, parity, progress)
        made, difference = building / name, found.difference
        whole: Sequence[str] = ()
        if int8:
            made, found, whole = _in_int8(made, makers.quantise, parity, progress)
        exported = Exported(
            graph=name,
            precision="int8" if int8 else "fp32",
            difference=difference,
            cosine=found.cosine,
            texts=len(texts),
            longest=max(map(len, texts)),
            whole=whole,
            passed_over=passed_over,
            tokenizer_sha256=file_sha256(model / TOKENIZER),
            packages={package: known for package in PACKAGES if (known := _version(package))},
        )
        shutil.copyfile(model / TOKENIZER, made / TOKENIZER)
        (made / EXPORT).write_text(json.dumps(asdict(exported), indent=2) + "\n", encoding="utf-8")
        for file in made.iterdir():
            file.chmod(READABLE)
        finish(made, out)
    return exported


def _texts(model: Path) -> list[list[int]]:
    """The texts to compare on, when the folder holds a Qwen3 model with a tokenizer that fits it."""
    try:
        config = json.loads((model / CONFIG).read_bytes())
        kind, vocabulary = config["model_type"], int(config["vocab_size"])
        longest = int(config["max_position_embeddings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{model} holds no {CONFIG} of a Hugging Face model: {error!r}") from error
    if kind != KIND:
        raise InputError(f"{model} holds a model of type {kind!r}, not {KIND!r}")
    tokenizer = TextTokenizer(model / TOKENIZER, MAX_TOKENS, END)
    if tokenizer.vocabulary_size > vocabulary:
        raise InputError(
            f"{model / TOKENIZER} is the tokenizer of another model: it knows {tokenizer.vocabulary_size} "
            f"tokens, the model {vocabulary}"
        )
    random = varied_texts(vocabulary, tokenizer.ids("")[0], longest)
    return [*random, *(ids for ids in map(tokenizer.ids, NATURAL) if len(ids) <= longest)]


def _first_right(
    model: Path, building: Path, makers: Mapping[str, Maker], parity: Check, progress: Progress
) -> tuple[str, Parity, dict[str, str]]:
    """Make one graph after the other until one is right: its name, its parity, and why not the others."""
    passed_over: dict[str, str] = {}
    for name, make in makers.items():
        progress(f"{name} graph", 0, 1, "")
        (building / name).mkdir()
        try:
            make(model, building / name)
            found = parity(building / name)
            problem = found.problem(int8=False)
        except (GraphError, EmbeddingError, InputError) as error:
            problem = str(error)
        if problem is None:
            progress(f"{name} graph", 1, 1, f"differs by {found.difference:.1e}")
            return name, found, passed_over
        progress(f"{name} graph", 1, 1, problem)
        passed_over[name] = problem
        shutil.rmtree(building / name)
    reasons = "; ".join(f"{name}: {problem}" for name, problem in passed_over.items())
    raise InputError(f"no graph of {model} gives the vectors of transformers, nothing is written: {reasons}")


def _in_int8(
    made: Path, quantise: Quantiser, parity: Check, progress: Progress
) -> tuple[Path, Parity, Sequence[str]]:
    """The graph in int8 in a folder of its own, with as few layers left whole as keep it near enough."""
    problem = None
    for whole in WHOLE:
        rounded = made.with_name(f"{made.name}-int8-{len(whole)}")
        rounded.mkdir()
        stage = f"int8 without {' and '.join(whole)}" if whole else "int8"
        progress(stage, 0, 1, "")
        quantise(made, rounded, whole)
        found = parity(rounded)
        problem = found.problem(int8=True)
        progress(stage, 1, 1, problem or f"least cosine {found.cosine:.4f}")
        if problem is None:
            return rounded, found, whole
        shutil.rmtree(rounded)
    raise InputError(
        f"the {made.name} graph in int8 is too far from transformers, nothing is written: {problem}"
    )


def _vectors(folder: Path, texts: list[list[int]], dimensions: int) -> Vectors:
    """What the run time makes of the graph in a folder."""
    encoder = OnnxEncoder(folder / MODEL)
    return np.concatenate([unit_rows(last_token(encoder.hidden(ids)), dimensions) for ids in texts])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
