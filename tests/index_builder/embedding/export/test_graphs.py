"""What the makers ask of the packages they use; that their graphs are right, the bench and exports check.

The packages are large and not of the lock, so small programs stand in for them here and note what they
are asked.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from index_builder.embedding.export import graphs
from index_builder.embedding.export.graphs import GraphError, built, fused, importing, module_of, quantise
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


def values(*names: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(name=name) for name in names]


def test_a_package_that_is_not_installed_is_named_with_the_extra() -> None:
    with pytest.raises(InputError, match=r"needs no_such_package: pip install 'read-gate\[export\]'"):
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
