"""Makes ONNX graphs of a Qwen3 model, and the vectors they are compared with, by torch and transformers.

Each maker reads a folder of Hugging Face weights and fills an empty one with ``model.onnx`` and its
weights. The packages they need are large and wanted here only, so they are imported when a maker runs.
"""

import ast
import importlib
import importlib.util
import json
import logging
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from index_builder.embedding.pooling import unit_rows
from index_builder.embedding.qwen3 import MODEL
from index_builder.errors import InputError, ReadGateError

WEIGHTS = "model.onnx.data"
OPSET = 18
BUILDER = "onnxruntime_genai.models.builder"
ATTENTION = "GroupQueryAttention"

Vectors = npt.NDArray[np.float32]


class GraphError(ReadGateError):
    """A maker cannot make its graph of this model; another one may, so it never leaves this package."""


def reference(model: Path, texts: list[list[int]]) -> Vectors:
    """The unit vector of each text's last token by transformers in float32."""
    torch, network = importing("torch"), _network(model)
    with torch.no_grad():
        states = [network(input_ids=torch.tensor([ids])).last_hidden_state[:, -1].numpy() for ids in texts]
    return unit_rows(np.concatenate(states), states[0].shape[1])


def fused(model: Path, folder: Path) -> None:
    """The graph of ``built`` without its inputs for the keys and values of earlier tokens: a text has none.

    Raises:
        GraphError: As ``built``.
    """
    onnx = importing("onnx")
    built(model, folder)
    whole = onnx.load(folder / MODEL, load_external_data=False)
    for node in whole.graph.node:
        if node.op_type == ATTENTION:
            node.input[3] = node.input[4] = ""
            del node.output[1:]
    for values, prefix in ((whole.graph.input, "past_key_values."), (whole.graph.output, "present.")):
        kept = [value for value in values if not value.name.startswith(prefix)]
        del values[:]
        values.extend(kept)
    onnx.save(whole, folder / MODEL)


def built(model: Path, folder: Path) -> None:
    """Attention, rotation and norms as one operator each: the graph of the onnxruntime-genai builder.

    Raises:
        GraphError: When the builder is not installed or does not take the model.
    """
    package = BUILDER.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        raise GraphError(f"{package} is not installed")
    with TemporaryDirectory(dir=folder) as scratch:
        weights, cache, out = (Path(scratch) / name for name in ("weights", "cache", "out"))
        _as_language_model(model, weights)
        command = [sys.executable, "-m", BUILDER, "-i", str(weights), "-o", str(out), "-c", str(cache)]
        command += ["-p", "fp32", "-e", "cpu", "--extra_options", "exclude_lm_head=true", "hf_token=false"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
        if done.returncode:
            raise GraphError(f"onnxruntime-genai: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
        for name in (MODEL, WEIGHTS):
            (out / name).rename(folder / name)


def dynamo(model: Path, folder: Path) -> None:
    """The operators of the network as torch traces them, at the opset that every runtime knows.

    Raises:
        GraphError: When the network cannot be traced.
    """
    torch, onnx, network = importing("torch"), importing("onnx"), _network(model)
    importing("onnxscript")
    network.config.use_cache = False
    # Two tensors: one that is given for both inputs is traced as one input.
    example = {name: torch.ones((2, 8), dtype=torch.int64) for name in ("input_ids", "attention_mask")}
    longest = network.config.max_position_embeddings
    axes = {0: torch.export.Dim("texts", min=1), 1: torch.export.Dim("tokens", min=1, max=longest)}
    try:
        with _quiet():
            torch.onnx.export(
                network,
                kwargs=example,
                f=folder / MODEL,
                dynamo=True,
                opset_version=OPSET,
                external_data=True,
                input_names=list(example),
                output_names=["last_hidden_state"],
                dynamic_shapes=dict.fromkeys(example, axes),
                verbose=False,
            )
    except Exception as error:  # the exporter's exceptions share no public base class
        raise GraphError(f"torch.onnx.export: {_said(error)}") from error
    graph = onnx.load(folder / MODEL, load_external_data=False)
    for node in graph.graph.node:
        facts = {fact.key: fact.value for fact in node.metadata_props}
        node.name = f"{module_of(facts)}/{node.name}"
        del node.metadata_props[:]  # they name this machine's files
    onnx.save(graph, folder / MODEL)


def quantise(source: Path, folder: Path, whole: Sequence[str]) -> None:
    """The products of a graph in int8: weights rounded now, activations as they come.

    Args:
        source: Holds the graph in float32.
        folder: Is filled.
        whole: Layers of a network's block, such as ``down_proj``, whose products stay in float32.

    Raises:
        InputError: When onnxruntime cannot do it.
    """
    onnx, quantization = importing("onnx"), importing("onnxruntime.quantization")
    nodes = onnx.load(source / MODEL, load_external_data=False).graph.node
    try:
        with _quiet():
            quantization.quantize_dynamic(
                source / MODEL,
                folder / MODEL,
                op_types_to_quantize=["MatMul"],
                per_channel=False,
                weight_type=quantization.QuantType.QInt8,
                nodes_to_exclude=[node.name for node in nodes if any(layer in node.name for layer in whole)],
                use_external_data_format=True,
            )
    except Exception as error:  # of onnx, protobuf and the disk
        raise InputError(f"the graph cannot be brought to int8: {_said(error)}") from error


def module_of(facts: Mapping[str, str]) -> str:
    """The innermost module a node is of, such as ``layers.0.mlp.down_proj``, by what torch says of it."""
    scopes = ast.literal_eval(facts.get("pkg.torch.onnx.name_scopes", "[]"))
    return next((scope for scope in reversed(scopes[:-1]) if scope), "network")


def _said(error: Exception) -> str:
    """The first line of an exception's text, or what it is when it has none."""
    return (str(error).strip() or repr(error)).splitlines()[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """What the packages say of themselves while they work is kept from the user: the outcome is checked."""
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(level)


def importing(name: str) -> ModuleType:
    """A module of the extra; ``InputError`` when it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"an export needs {name}: pip install -e '.[export]'") from error


def _network(model: Path) -> Any:  # noqa: ANN401  # of a class that exists where transformers does
    torch, transformers = importing("torch"), importing("transformers")
    transformers.utils.logging.disable_progress_bar()
    try:
        network = transformers.AutoModel.from_pretrained(model, dtype=torch.float32, local_files_only=True)
    except Exception as error:  # what reads the files raises its own kinds
        raise InputError(f"transformers cannot load {model}: {error}") from error
    return network.eval()


def _as_language_model(model: Path, folder: Path) -> None:
    """The same weights under the only name of a Qwen3 architecture that the builder knows."""
    folder.mkdir()
    for path in model.iterdir():
        (folder / path.name).symlink_to(path.resolve())
    config = folder / "config.json"
    settings = json.loads(config.read_bytes()) | {"architectures": ["Qwen3ForCausalLM"]}
    config.unlink()
    config.write_text(json.dumps(settings), encoding="utf-8")
