"""``readgate data world``: writes three sets and refuses what it cannot do."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

Said = tuple[int, str, str]
Command = Callable[..., Said]
Snapshot = Callable[[], dict[str, bytes]]


def test_a_world_is_three_official_files_and_their_corpora(
    here: Path, readgate: Command, snapshot: Snapshot
) -> None:
    command = ("data", "world", "--questions", 5, "--passages", 50, "--seed", 3)
    code, out, _ = readgate(*command, "--out", "w")
    assert code == 0
    names = {
        "2wikimultihopqa.json",
        "hotpotqa.json",
        "musique.jsonl",
        "corpus/2wikimultihopqa_corpus.json",
        "corpus/hotpotqa_corpus.json",
        "corpus/musique_corpus.json",
    }
    assert {str(path.relative_to(here / "w")) for path in (here / "w").rglob("*.json*")} == names
    for name in names:
        assert f"w/{name}: " in out
    code, out, _ = readgate(*command, "--out", "again", "--json")
    assert (code, {each["source"] for each in orjson.loads(out)["sets"]}) == (
        0,
        {"again/hotpotqa.json", "again/2wikimultihopqa.json", "again/musique.jsonl"},
    )
    files = snapshot()
    assert {name: files[f"w/{name}"] for name in names} == {name: files[f"again/{name}"] for name in names}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Missing option '--out'"),
        (("--out", "small.toml"), "small.toml is a file"),
        (("--out", "w", "--questions", "0"), "--questions"),
        (("--out", "w", "--passages", "49"), "--passages"),
        (("--out", "w", "--sed", "1"), "Did you mean '--seed'?"),
    ],
)
def test_wrong_use_is_one_sentence_and_nothing_is_written(
    here: Path, readgate: Command, snapshot: Snapshot, words: tuple[str, ...], sentence: str
) -> None:
    del here
    before = snapshot()
    code, out, err = readgate("data", "world", *words)
    assert (code, out) == (2, "")
    assert err.startswith("readgate: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert snapshot() == before
