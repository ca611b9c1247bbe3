"""What the makers ask of the packages they use; that their graphs are right, the bench and exports check.

The packages are large and not of the lock, so small programs stand in for them here and note what they
are asked.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from index_builder.embedding.export import graphs
from index_builder.embedding.export.graphs import (
    GraphError,
    built,
    dynamo,
    fused,
    importing,
    module_of,
    quantise,
    reference,
)
from index_builder.errors import InputError

BUILDER = """
import json, os, sys
from pathlib import Path
words = dict(zip(sys.argv[1:-3:2], sys.argv[2:-3:2]))
weights, out = Path(words.pop("-i")), Path(words.pop("-o"))
words.pop("-c")
if (weights / "broken").exists():
    sys.exit("Traceback\\nNotImplementedError: no such model")
out.mkdir()
config = json.loads((weights / "config.json").read_text())
told = {"words": words, "options": sys.argv[-3:], "config": config, "tensors": (weights / "t").read_text()}
(out / "model.onnx").write_text(json.dumps(told))
(out / "model.onnx.data").write_text("weights")
"""


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "config.json").write_text('{"architectures": ["Qwen3Model"], "vocab_size": 9}')
    (folder / "t").write_text("tensors")
    return folder


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program under the name of the onnxruntime-genai builder."""
    models = tmp_path / "packages" / "onnxruntime_genai" / "models"
    models.mkdir(parents=True)
    (models.parent / "__init__.py").touch()
    (models / "__init__.py").touch()
    (models / "builder.py").write_text(BUILDER)
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path / "packages"))
    monkeypatch.syspath_prepend(tmp_path / "packages")


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


class Network:
    """Stands in for a loaded network; the state of its last token is (3, 4) a token."""

    def __init__(self) -> None:
        self.config = SimpleNamespace(use_cache=True, max_position_embeddings=99)
        self.loaded: dict[str, object] = {}

    def from_pretrained(self, model: Path, **options: object) -> "Network":
        if not (model / "t").exists():
            raise RuntimeError("no tensors")
        self.loaded = options
        return self

    def eval(self) -> "Network":
        return self

    def __call__(self, input_ids: list[list[int]]) -> SimpleNamespace:
        states = np.array([[[3 * token, 4 * token] for token in input_ids[0]]], dtype=np.float32)
        return SimpleNamespace(last_hidden_state=States(states))


class States:
    """Stands in for the states of a text in torch."""

    def __init__(self, states: npt.NDArray[np.float32]) -> None:
        self._states = states

    def __getitem__(self, place: tuple[slice, int]) -> "States":
        return States(self._states[place])

    def numpy(self) -> npt.NDArray[np.float32]:
        return self._states


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    """What transformers loads."""
    loaded = Network()
    progress = SimpleNamespace(disable_progress_bar=lambda: None)
    stand_in(monkeypatch, "transformers", AutoModel=loaded, utils=SimpleNamespace(logging=progress))
    return loaded


def torch_with(monkeypatch: pytest.MonkeyPatch, export: Callable[..., None]) -> None:
    stand_in(
        monkeypatch,
        "torch",
        float32="float32",
        int64="int64",
        no_grad=nullcontext,
        tensor=list,
        ones=lambda shape, dtype: (shape, dtype, object()),
        export=SimpleNamespace(Dim=lambda name, **bounds: (name, bounds)),
        onnx=SimpleNamespace(export=export),
    )


def values(*names: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(name=name) for name in names]


def test_a_package_that_is_not_installed_is_named_with_the_extra() -> None:
    with pytest.raises(InputError, match=r"needs no_such_package: pip install -e '\.\[export\]'"):
        importing("no_such_package")


@pytest.mark.usefixtures("builder")
def test_the_builder_is_asked_for_the_states_of_a_language_model(weights: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    built(weights, out)
    assert json.loads((out / "model.onnx").read_text()) == {
        "words": {"-p": "fp32", "-e": "cpu"},
        "options": ["--extra_options", "exclude_lm_head=true", "hf_token=false"],
        "config": {"architectures": ["Qwen3ForCausalLM"], "vocab_size": 9},
        "tensors": "tensors",
    }
    assert {path.name for path in out.iterdir()} == {"model.onnx", "model.onnx.data"}
    # The weights of the user are as they were.
    assert json.loads((weights / "config.json").read_text())["architectures"] == ["Qwen3Model"]


@pytest.mark.usefixtures("builder")
def test_what_the_builder_says_last_is_why_there_is_no_fused_graph(weights: Path, tmp_path: Path) -> None:
    (weights / "broken").touch()
    with pytest.raises(GraphError, match=r"^onnxruntime-genai: NotImplementedError: no such model$"):
        built(weights, tmp_path)


def test_without_the_builder_there_is_no_fused_graph(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs, "BUILDER", "no_such_builder.models.builder")
    with pytest.raises(GraphError, match="no_such_builder is not installed"):
        built(weights, tmp_path)


@pytest.mark.usefixtures("builder")
def test_the_fused_graph_takes_no_caches_and_gives_none(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attention = SimpleNamespace(
        op_type="GroupQueryAttention",
        input=["q", "k", "v", "past_key_values.0.key", "past_key_values.0.value", "mask"],
        output=["mixed", "present.0.key", "present.0.value"],
    )
    product = SimpleNamespace(op_type="MatMul", input=["a", "b"], output=["c", "d"])
    graph = SimpleNamespace(
        node=[product, attention],
        input=values("input_ids", "past_key_values.0.key", "past_key_values.0.value"),
        output=values("hidden_states", "present.0.key", "present.0.value"),
    )
    saved: list[Path] = []
    stand_in(
        monkeypatch,
        "onnx",
        load=lambda _path, **_options: SimpleNamespace(graph=graph),
        save=lambda _graph, path: saved.append(path),
    )
    fused(weights, tmp_path)
    assert attention.input == ["q", "k", "v", "", "", "mask"]
    assert (attention.output, product.output) == (["mixed"], ["c", "d"])
    assert (graph.input, graph.output) == (values("input_ids"), values("hidden_states"))
    assert saved == [tmp_path / "model.onnx"]


@pytest.mark.parametrize(
    ("whole", "excluded"),
    [
        ((), []),
        (["down_proj"], ["0/down_proj/MatMul"]),
        (["down_proj", "o_proj"], ["0/o_proj/MatMul", "0/down_proj/MatMul"]),
    ],
)
def test_products_are_rounded_to_signed_int8_by_tensor_save_those_of_whole_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: Sequence[str], excluded: list[str]
) -> None:
    told: dict[str, object] = {}
    nodes = SimpleNamespace(node=values("0/q_proj/MatMul", "0/o_proj/MatMul", "0/down_proj/MatMul"))
    stand_in(monkeypatch, "onnx", load=lambda _path, **_options: SimpleNamespace(graph=nodes))
    stand_in(
        monkeypatch,
        "onnxruntime.quantization",
        quantize_dynamic=lambda source, out, **options: told.update(options, source=source, out=out),
        QuantType=SimpleNamespace(QInt8="signed"),
    )
    quantise(tmp_path / "a", tmp_path / "b", whole)
    assert told == {
        "source": tmp_path / "a" / "model.onnx",
        "out": tmp_path / "b" / "model.onnx",
        "op_types_to_quantize": ["MatMul"],
        "per_channel": False,
        "weight_type": "signed",
        "nodes_to_exclude": excluded,
        "use_external_data_format": True,
    }


def test_a_node_is_named_after_the_innermost_module_it_is_of() -> None:
    key = "pkg.torch.onnx.name_scopes"
    assert (
        module_of({key: "['', 'layers.0', 'layers.0.mlp.down_proj', 'linear']"}) == "layers.0.mlp.down_proj"
    )
    assert module_of({key: "['', 'arange']"}) == module_of({}) == "network"


def test_the_reference_is_the_unit_state_of_the_last_token_in_float32(
    weights: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch_with(monkeypatch, lambda **_: None)
    # (3, 4) times any token has length 5 times the token.
    assert reference(weights, [[7, 2], [5]]) == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8]]))
    assert network.loaded == {"dtype": "float32", "local_files_only": True}


def test_weights_that_transformers_cannot_load_are_bad_input(
    weights: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch_with(monkeypatch, lambda **_: None)
    (weights / "t").unlink()
    with pytest.raises(InputError, match=r"transformers cannot load .*weights: no tensors"):
        reference(weights, [[1]])
    assert network.loaded == {}


def test_torch_traces_two_inputs_of_open_lengths_and_tells_nothing_of_its_machine(
    weights: Path, tmp_path: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}
    torch_with(monkeypatch, lambda _network, **options: told.update(options))
    scopes = SimpleNamespace(key="pkg.torch.onnx.name_scopes", value="['', 'layers.0.mlp', 'mul']")
    node = SimpleNamespace(name="node_mul", metadata_props=[scopes])
    graph = SimpleNamespace(graph=SimpleNamespace(node=[node]))
    stand_in(monkeypatch, "onnxscript")
    stand_in(monkeypatch, "onnx", load=lambda _path, **_options: graph, save=lambda *_: None)
    dynamo(weights, tmp_path)
    first, second = told["kwargs"].values()
    assert first is not second
    axes = {0: ("texts", {"min": 1}), 1: ("tokens", {"min": 1, "max": 99})}
    assert told["dynamic_shapes"] == {"input_ids": axes, "attention_mask": axes}
    assert (told["dynamo"], told["opset_version"], told["external_data"]) == (True, 18, True)
    assert (told["input_names"], told["output_names"]) == (
        ["input_ids", "attention_mask"],
        ["last_hidden_state"],
    )
    assert not network.config.use_cache
    assert (node.name, node.metadata_props) == ("layers.0.mlp/node_mul", [])


@pytest.mark.usefixtures("network")
def test_why_torch_cannot_trace_a_network_is_told_in_a_line(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **_options: object) -> None:
        raise RuntimeError("an operator is not known\nand 90 lines more")

    torch_with(monkeypatch, fail)
    stand_in(monkeypatch, "onnxscript")
    stand_in(monkeypatch, "onnx")
    with pytest.raises(GraphError, match=r"^torch\.onnx\.export: an operator is not known$"):
        dynamo(weights, tmp_path)
