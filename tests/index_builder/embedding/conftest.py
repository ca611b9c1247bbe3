"""Folders with the tiny graphs of Qwen3, as ``make_tiny_graphs`` made them and as ``qwen3`` opens them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from index_builder.embedding.onnx_model import external_files

TINY = Path(__file__).with_name("tiny")


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a folder with the graph of that name, its weights and its tokenizer."""

    def folder(graph: str) -> Path:
        made = tmp_path / graph
        made.mkdir()
        shutil.copyfile(TINY / f"{graph}.onnx", made / "model.onnx")
        for name in (*external_files(made / "model.onnx"), "tokenizer.json"):
            shutil.copyfile(TINY / name, made / name)
        return made

    return folder
