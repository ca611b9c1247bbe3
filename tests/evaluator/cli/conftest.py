"""A small world with bundles, and a folder to work in, for tests of whole commands."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.cli.main import main
from index_builder.build import build_bundle
from index_builder.datasets.world import write_world
from index_builder.embedding.embedder import open_embedder

EXPERIMENT = """
name = "small"
seed = 7

[[dataset]]
name = "hotpotqa"
bundle = "bundles/hotpotqa"

[[dataset]]
name = "musique"
bundle = "bundles/musique"

[[condition]]
name = "hasty"
controller = "hasty"

[[condition]]
name = "hasty+gate"
controller = "hasty"
gate = { mode = "enforce" }

[[pair]]
baseline = "hasty"
treatment = "hasty+gate"
family = "primary"

[controller.hasty]
provider = "scripted"
model = "hasty"

[judge.primary]
provider = "scripted"
model = "judge"

[rate]
trajectories = 8
"""

SOURCES = {"hotpotqa": "hotpotqa.json", "musique": "musique.jsonl"}

Said = tuple[int, str, str]
Command = Callable[..., Said]
Snapshot = Callable[[], dict[str, bytes]]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sets of an invented world, with bundles whose embedder needs no model."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder, questions=20, passages=60, seed=7)
    for dataset, source in SOURCES.items():
        build_bundle(
            dataset,
            folder / source,
            None,
            "passage",
            open_embedder("hashed_words"),
            folder / "bundles" / dataset,
            7,
            lambda *_: None,
        )
    return folder


@pytest.fixture
def here(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: bundles, and the experiment ``small.toml``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bundles").symlink_to(world / "bundles")
    (tmp_path / "small.toml").write_text(EXPERIMENT)
    return tmp_path


@pytest.fixture
def readgate(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in this process: its exit code, standard output and standard error."""

    def command(*words: object) -> Said:
        capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def snapshot(here: Path) -> Snapshot:
    """Every file below the working directory with its content, bundles left out.

    Hidden files are left out too: a measured server process leaves its coverage data where it was begun.
    """

    def now() -> dict[str, bytes]:
        files = (path for path in here.rglob("[!.]*") if path.is_file() and not path.is_symlink())
        return {str(path.relative_to(here)): path.read_bytes() for path in files}

    return now
