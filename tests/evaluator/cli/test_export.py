"""``readgate index export-qwen3``: what it says of an export, and of folders it cannot export."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evaluator.cli import export
from evaluator.cli.export import described
from evaluator.cli.main import BAD_INPUT, DONE
from index_builder.embedding.export.qwen3 import Exported
from index_builder.records import Progress

Command = Callable[..., tuple[int, str, str]]

FACTS = Exported(
    graph="fused",
    precision="fp32",
    difference=1.7e-7,
    cosine=1.0,
    texts=15,
    longest=512,
    whole=(),
    passed_over={},
    tokenizer_sha256="0" * 64,
    packages={},
)


def test_the_command_says_how_near_the_export_is(readgate: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, Path, bool]] = []

    def exporting(model: Path, out: Path, *, int8: bool, progress: Progress) -> Exported:
        asked.append((model, out, int8))
        progress("transformers", 15, 15, "texts")
        return FACTS

    monkeypatch.setattr(export, "export_qwen3", exporting)
    code, out, err = readgate("index", "export-qwen3", "weights", "--out", "model", "--int8")
    assert (code, asked) == (DONE, [(Path("weights"), Path("model"), True)])
    assert out == (
        "model: fused graph in fp32; beside transformers, over 15 texts of up to 512 tokens: "
        "largest difference 1.7e-07 in fp32\n"
    )
    assert err == "model: transformers 15/15 · texts\n"


def test_the_export_is_printed_as_json(readgate: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "export_qwen3", lambda *_, **__: FACTS)
    code, out, _ = readgate("index", "export-qwen3", "weights", "--out", "model", "--json")
    assert (code, json.loads(out)) == (DONE, json.loads(json.dumps(asdict(FACTS))))


def test_int8_is_told_with_its_cosine_and_what_was_left_out_of_it() -> None:
    facts = replace(
        FACTS,
        graph="dynamo",
        precision="int8",
        cosine=0.98765,
        whole=("down_proj", "o_proj"),
        passed_over={"fused": "onnxruntime_genai is\x1b not installed"},
    )
    first, *notes = described(Path("model"), facts)
    assert first.startswith("model: dynamo graph in int8; ")
    assert first.endswith(": largest difference 1.7e-07 in fp32, least cosine 0.98765 in int8")
    assert notes == [
        "  left in fp32, being too far off in int8: down_proj, o_proj",
        "  not the fused graph: onnxruntime_genai is\\x1b not installed",
    ]


def test_a_folder_that_holds_no_model_is_bad_input(readgate: Command, tmp_path: Path) -> None:
    code, out, err = readgate("index", "export-qwen3", tmp_path, "--out", tmp_path / "model")
    assert (code, out) == (BAD_INPUT, "")
    assert "holds no config.json of a Hugging Face model" in err
    assert list(tmp_path.iterdir()) == []
