"""A small hand-made dataset and tiny graphs of Qwen3 for tests of chunks, indexes and bundles."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from index_builder.embedding.onnx_model import external_files
from index_builder.records import Dataset, Passage, Question

TINY = Path(__file__).parent / "embedding" / "tiny"

PASSAGES = (
    Passage("Ada Lovelace", "Ada Lovelace wrote the first program for the Analytical Engine."),
    Passage("Charles Babbage", "Charles Babbage designed the Analytical Engine in London."),
    Passage("London", "London is the capital of England and stands on the Thames."),
    Passage("Mercury (planet)", "Mercury is the smallest planet of the Solar System."),
    Passage("Mercury (element)", "Mercury is a chemical element, a metal that is liquid."),
    Passage("Hamlet", "To be, or not to be: that is the question that Hamlet asks."),
)


@pytest.fixture
def dataset() -> Dataset:
    """Three questions over six passages; one gold passage of the second stands in no corpus."""
    questions = (
        Question(
            "q1", "Who designed the Analytical Engine?", ("Charles Babbage",), "bridge", 2, PASSAGES[:2]
        ),
        Question(
            "q2",
            "Which planet is smallest?",
            ("Mercury",),
            "comparison",
            2,
            (
                Passage("Mercury (planet)", "Mercury is the  smallest planet of the Solar\nSystem."),
                Passage("Venus", "Hot."),
            ),
        ),
        Question("q3", "What does Hamlet ask?", ("To be",), "bridge", 1, None),
    )
    return Dataset(questions, PASSAGES, {"spaces removed": 2})


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a folder with the graph of that name, its weights and its tokenizer, as ``qwen3`` opens it."""

    def folder(graph: str) -> Path:
        made = tmp_path / graph
        made.mkdir()
        shutil.copyfile(TINY / f"{graph}.onnx", made / "model.onnx")
        for name in (*external_files(made / "model.onnx"), "tokenizer.json"):
            shutil.copyfile(TINY / name, made / name)
        return made

    return folder
