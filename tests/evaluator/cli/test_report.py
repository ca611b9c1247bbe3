"""``readgate report``: every format of one run, filters, and that it only reads."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from reports.render import FORMATS

Said = tuple[int, str, str]
Command = Callable[..., Said]
Snapshot = Callable[[], dict[str, bytes]]


@pytest.fixture
def run(here: Path, readgate: Command) -> str:
    """A judged run of 16 trajectories."""
    assert readgate("run", "small.toml", "--limit", 4)[0] == 0
    assert readgate("judge", "runs/small")[0] == 0
    return str(here / "runs" / "small")


def test_every_format_is_printed_and_nothing_in_the_folder_is_touched(
    run: str, readgate: Command, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot()
    said = {name: readgate("report", run, "--format", name) for name in FORMATS}
    assert {code for code, _, _ in said.values()} == {0}
    assert {err for _, _, err in said.values()} == {""}
    assert said["html"][1].lstrip().lower().startswith("<!doctype html>")
    assert orjson.loads(said["json"][1])["evidence"] == "scripted"
    assert readgate("report", run, "--json") == said["json"]
    assert readgate("report", run) == said["terminal"]
    assert "\x1b[" not in said["terminal"][1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b[" in readgate("report", run)[1]
    assert snapshot() == before


def test_filters_choose_rows(run: str, readgate: Command) -> None:
    code, out, _ = readgate("report", run, "--json", "--dataset", "musique", "--condition", "hasty")
    cells = orjson.loads(out)["cells"]
    assert (code, [(cell["dataset"], cell["condition"]) for cell in cells]) == (0, [("musique", "hasty")])


def test_a_filter_that_names_nothing_and_a_folder_that_is_none_are_refused(
    run: str, readgate: Command
) -> None:
    code, out, err = readgate("report", run, "--dataset", "musiqu")
    assert (code, out, "did you mean 'musique'?" in err) == (2, "", True)
    assert readgate("report", "nowhere") == (2, "", "readgate: nowhere does not exist\n")
    assert readgate("report", run, "--format", "pdf")[0] == 2
