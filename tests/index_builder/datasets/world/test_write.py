"""Written worlds: read by the loaders, solved from their passages, the same bytes for the same seed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import read_corpus
from index_builder.datasets.world import WorldSummary, write_world
from index_builder.datasets.world import write as writing
from index_builder.datasets.world.facts import World
from index_builder.datasets.world.layout import Layout
from index_builder.errors import InputError
from tests.index_builder.datasets.world.solver import Reader, name_of

EVERYTHING = 10**9


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("seed", "passages", "questions"),
    [(0, 50, EVERYTHING), (1, 51, 300), (2, 74, 300), (3, 300, 400), (4, 1500, 200)],
)
def test_a_solver_finds_exactly_the_written_answer_to_every_question(
    seed: int, passages: int, questions: int, tmp_path: Path
) -> None:
    summary = write_world(tmp_path, questions=questions, passages=passages, seed=seed)
    for written in summary.sets:
        dataset = LOADERS[written.dataset](written.source)
        reader = Reader((passage.title, passage.text) for passage in read_corpus(written.corpus))
        assert len(dataset.questions) == written.questions
        for question in dataset.questions:
            assert reader.answers(question.text) == {question.answers[0]}, question.text


def test_passages_state_every_fact_once_and_titles_are_distinct(tmp_path: Path) -> None:
    summary = write_world(tmp_path, questions=1, passages=500, seed=6)
    for written in summary.sets:
        reader = Reader((passage.title, passage.text) for passage in read_corpus(written.corpus))
        assert len(set(reader.titles)) == len(reader.titles) == 500
        assert all(len(values) == 1 for values in reader.said.values())
        namesakes = [title for title in reader.titles if len(reader.by_name[name_of(title)]) > 1]
        assert all(title.endswith(")") for title in namesakes)
        # One rank in twelve is a namesake of another: about 83 titles of 500 have a parenthesis.
        assert 60 <= len(namesakes) <= 90


@pytest.mark.parametrize("passages", [50, 120, 1000])
def test_every_gold_passage_is_in_the_corpus_by_title_and_text(passages: int, tmp_path: Path) -> None:
    summary = write_world(tmp_path, questions=150, passages=passages, seed=8)
    for written in summary.sets:
        dataset = LOADERS[written.dataset](written.source)
        corpus = set(read_corpus(written.corpus))
        assert len(corpus) == written.passages == passages
        assert set(dataset.passages) <= corpus
        for question in dataset.questions:
            assert question.gold is not None
            assert set(question.gold) <= corpus
            assert len(question.gold) == question.hops


def test_the_loaders_find_nothing_to_repair(tmp_path: Path) -> None:
    summary = write_world(tmp_path, questions=200, passages=300, seed=9)
    for written in summary.sets:
        dataset = LOADERS[written.dataset](written.source)
        assert set(dataset.notes) <= {"null answer ids, passed over"}
        assert {question.kind for question in dataset.questions} == set(written.kinds)


def test_files_are_named_as_the_official_ones(tmp_path: Path, shared_data: Path) -> None:
    write_world(tmp_path, questions=5, passages=50, seed=1)
    official = {name for name in _files(shared_data) if name.endswith((".json", ".jsonl"))}
    assert set(_files(tmp_path)) == official


def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        write_world(tmp_path / folder, questions=60, passages=100, seed=seed)
    a, b, c = (_files(tmp_path / folder) for folder in "abc")
    assert a == b
    assert all(a[name] != c[name] for name in a)


def test_a_limit_on_questions_does_not_change_the_ones_before_it(tmp_path: Path) -> None:
    for folder, questions in (("few", 20), ("more", 40)):
        write_world(tmp_path / folder, questions=questions, passages=100, seed=7)
    few, more = (json.loads((tmp_path / f / "hotpotqa.json").read_bytes()) for f in ("few", "more"))
    assert few == more[:20]


def test_the_three_sets_tell_of_different_worlds(tmp_path: Path) -> None:
    summary = write_world(tmp_path, questions=1, passages=60, seed=2)
    titles = [{passage.title for passage in read_corpus(written.corpus)} for written in summary.sets]
    assert titles[0] & titles[1] == titles[1] & titles[2] == titles[0] & titles[2] == set()


def test_more_questions_than_there_are_gives_all_and_says_so(tmp_path: Path) -> None:
    summary = write_world(tmp_path, questions=5000, passages=50, seed=3)
    for written in summary.sets:
        assert 200 < written.questions < 5000
        assert written.questions == sum(written.kinds.values())
        sentence = (
            f"{written.dataset}: 5,000 questions were asked for; "
            f"a world of 50 passages has {written.questions:,}, and all were used"
        )
        assert sentence in list(summary.lines())


def test_a_world_with_enough_questions_says_nothing_of_a_lack(tmp_path: Path) -> None:
    summary = write_world(tmp_path, questions=10, passages=60, seed=3)
    assert [written.questions for written in summary.sets] == [10, 10, 10]
    assert not any("asked for" in line for line in summary.lines())


def _measured_late_share(summary: WorldSummary) -> float:
    """The share of 2Wiki's and HotpotQA's supporting sentences that end beyond 200 characters."""
    late = facts = 0
    for written in summary.sets[:2]:
        for record in json.loads(written.source.read_bytes()):
            sentences = dict(record["context"])
            for title, number in record["supporting_facts"]:
                until = " ".join(sentence.strip() for sentence in sentences[title][: number + 1])
                late += len(until) > 200
                facts += 1
    return late / facts


def test_the_summary_tells_the_measured_share_of_late_facts(tmp_path: Path) -> None:
    summary = write_world(tmp_path, questions=300, passages=300, seed=4)
    pair = summary.sets[:2]
    told = sum(each.late_facts for each in pair) / sum(each.facts for each in pair)
    assert told == _measured_late_share(summary)
    assert 0.5 <= summary.late_share <= 0.65
    assert list(summary.lines())[-1] == (
        f"of the facts that the questions ask for, {summary.late_share:.1%} end beyond the first 200 "
        "characters of their passage"
    )


def test_the_share_of_late_facts_is_a_setting(tmp_path: Path) -> None:
    shares = [
        write_world(tmp_path / str(late), questions=200, passages=300, seed=4, late_share=late).late_share
        for late in (0.2, 0.6, 1.0)
    ]
    assert shares[0] < 0.4 < shares[1] < 0.75 < shares[2] == 1.0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"passages": 49}, "50 to 1,000,000 passages, not 49"),
        ({"passages": 1_000_001}, "not 1,000,001"),
        ({"questions": 0}, "at least 1 question"),
        ({"late_share": 1.5}, "from 0 to 1, not 1.5"),
    ],
)
def test_a_number_out_of_range_is_refused_and_nothing_written(
    change: dict[str, int], told: str, tmp_path: Path
) -> None:
    arguments = {"questions": 5, "passages": 50, "seed": 1} | change
    with pytest.raises(InputError, match=told):
        write_world(tmp_path / "world", **arguments)
    assert not (tmp_path / "world").exists()


def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="cannot be written to"):
        write_world(tmp_path / "taken", questions=5, passages=50, seed=1)


def test_a_file_is_replaced_only_when_the_new_one_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_world(tmp_path, questions=5, passages=50, seed=1)
    before = _files(tmp_path)

    def page_that_breaks(_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "_titled_text", page_that_breaks)
    with pytest.raises(InputError, match="No space left on device"):
        write_world(tmp_path, questions=5, passages=60, seed=2)
    after = _files(tmp_path)
    broken = "corpus/2wikimultihopqa_corpus.json"
    assert after[broken] == before[broken]
    assert not any(name.endswith(".unfinished") for name in after)


WRITE_AND_TELL_GROWTH = """
import resource, sys
from pathlib import Path
from index_builder.datasets.world.layout import Layout
from index_builder.datasets.world.write import _write_set
from index_builder.datasets.world.facts import World

def write(passages):
    _write_set(Path(sys.argv[1]), "two_wiki", Layout(World(1, passages)), 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

before = write(6000)
print(write(60_000) - before)
"""


def test_a_large_corpus_streams_as_lines_in_flat_memory(tmp_path: Path) -> None:
    # In a process of its own: tracing every allocation would take many times as long.
    command = [sys.executable, "-c", WRITE_AND_TELL_GROWTH, str(tmp_path)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    corpus = tmp_path / "corpus" / "2wikimultihopqa_corpus.jsonl"
    lines = corpus.read_bytes().splitlines()
    assert len(lines) == 60_000
    assert set(json.loads(lines[-1])) == {"title", "text"}
    # Once 6,000 passages have filled the caches, 60,000 take no more, but for what the allocator holds
    # back. Kept in memory, their lines alone would take 20 MB and the pages 60.
    assert corpus.stat().st_size > 20_000_000
    assert grown * 1024 < 12_000_000


@pytest.mark.parametrize("dataset", ["hotpotqa", "musique"])
def test_the_other_form_of_a_corpus_is_not_left_beside_it(
    dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(World(1, 60))
    whole = writing._write_set(tmp_path, dataset, layout, 5).corpus
    monkeypatch.setattr(writing, "STREAMED_ABOVE", 59)
    streamed = writing._write_set(tmp_path, dataset, layout, 5).corpus
    assert list(streamed.parent.iterdir()) == [streamed]
    monkeypatch.undo()
    assert writing._write_set(tmp_path, dataset, layout, 5).corpus == whole
    assert list(whole.parent.iterdir()) == [whole]


def test_both_forms_of_a_corpus_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(World(5, 80))
    whole = [list(read_corpus(writing._write_set(tmp_path, name, layout, 1).corpus)) for name in LOADERS]
    monkeypatch.setattr(writing, "STREAMED_ABOVE", 79)
    lines = [list(read_corpus(writing._write_set(tmp_path, name, layout, 1).corpus)) for name in LOADERS]
    assert whole == lines
    assert all(len(passages) == 80 for passages in whole)
