"""``readgate index``: builds, checks, measures and searches, and refuses broken files."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from evaluator.cli.index import SHOWN_PROBLEMS, described
from index_builder.build import BundleSummary
from index_builder.bundle import open_bundle
from index_builder.datasets import musique
from index_builder.manifest import AGAIN, UnmatchedGold
from index_builder.vectors import VectorFacts

Said = tuple[int, str, str]
Command = Callable[..., Said]
Snapshot = Callable[[], dict[str, bytes]]


def build(source: Path, *more: object) -> tuple[object, ...]:
    return ("index", "build", "--source", source, "--out", "b", "--embedder", "hashed_words", *more)


def test_a_bundle_is_built_once_and_found_finished_after_that(
    here: Path, world: Path, readgate: Command
) -> None:
    command = build(world / "hotpotqa.json", "--dataset", "hotpotqa")
    code, out, err = readgate(*command)
    n_chunks = open_bundle(here / "b", verify_hashes=True).manifest.n_chunks
    assert (code, out.splitlines()[0]) == (
        0,
        f"b: {n_chunks} chunks, 20 questions (20 with known gold), embedder hashed_words",
    )
    assert f"b: vectors {n_chunks}/{n_chunks} · " in err
    assert err.endswith(" tokens/s\n")
    code, out, _ = readgate(*command)
    assert (code, out.splitlines()[0]) == (0, "b: finished before, every file as it was built")


def test_without_an_embedder_only_words_are_searched(world: Path, here: Path, readgate: Command) -> None:
    del here
    command = build(world / "musique.jsonl", "--dataset", "musique", "--chunking", "packed:200")
    assert readgate(*command, "--embedder", "none")[0] == 0
    assert readgate("index", "search", "b", "who founded it", "-k", 2)[0] == 0
    code, _, err = readgate("index", "search", "b", "who", "--retriever", "dense")
    assert (code, "holds no vectors" in err) == (2, True)
    code, out, _ = readgate("index", "recall", "b", "--json")
    assert (code, list(orjson.loads(out))) == (0, ["n_questions", "bm25"])


def test_the_analyser_is_chosen_by_name_and_part_of_the_bundle(
    here: Path, world: Path, readgate: Command
) -> None:
    command = build(world / "hotpotqa.json", "--dataset", "hotpotqa", "--analyser")
    assert readgate(*command, "plain", "--embedder", "none")[0] == 0
    manifest = open_bundle(here / "b", verify_hashes=False).manifest
    assert manifest.analyser == "plain"
    code, _, err = readgate(*command, "english", "--embedder", "none")
    assert (code, "holds another bundle" in err) == (2, True)


def test_vectors_are_kept_beside_the_bundle_or_in_a_file_of_choice(
    here: Path, world: Path, readgate: Command
) -> None:
    command = build(world / "hotpotqa.json", "--dataset", "hotpotqa")
    assert "from the cache" not in readgate(*command)[1]
    assert (here / ".vectors.sqlite").is_file()
    n_chunks = open_bundle(here / "b", verify_hashes=False).manifest.n_chunks
    again = (*command, "--analyser", "plain", "--out")
    kept = f"vectors that were made before, from the cache: {n_chunks}\n"
    code, out, err = readgate(*again, "c")
    assert (code, kept in out) == (0, True)
    assert f"c: vectors {n_chunks}/{n_chunks} · {n_chunks} of {n_chunks} from the cache\n" in err
    assert kept not in readgate(*again, "d", "--vector-cache", "own.sqlite")[1]
    assert (here / "own.sqlite").is_file()


def test_a_file_that_is_no_cache_is_named_and_nothing_is_built(
    here: Path, world: Path, readgate: Command
) -> None:
    (here / "notes").write_text("no database " * 100)
    command = build(world / "hotpotqa.json", "--dataset", "hotpotqa", "--vector-cache", "notes")
    code, _, err = readgate(*command)
    assert (code, "notes cannot be used" in err, "another kind of file" in err) == (2, True, True)
    assert sorted(path.name for path in here.iterdir()) == ["bundles", "notes", "small.toml"]


def test_dimensions_that_the_model_cannot_give_are_refused(
    here: Path, world: Path, readgate: Command
) -> None:
    code, _, err = readgate(*build(world / "hotpotqa.json", "--dataset", "hotpotqa"), "--dimensions", 32)
    assert (code, "hashed_words gives vectors of 64 dimensions, not 32" in err) == (2, True)
    assert sorted(path.name for path in here.iterdir()) == ["bundles", "small.toml"]


def test_a_rags_packed_chunks_get_their_gold_from_the_official_file(
    here: Path, world: Path, readgate: Command
) -> None:
    questions = musique.load(world / "musique.jsonl").questions
    gold = [passage.text.lower() for question in questions for passage in question.gold or ()]
    asked = [
        {"id": f"musique_{each.question_id}", "question": each.text, "answer": "x"} for each in questions
    ]
    (here / "questions.json").write_bytes(orjson.dumps(asked))
    (here / "chunks.json").write_bytes(orjson.dumps([f"{n}:{text}" for n, text in enumerate(gold[1:])]))
    command = build(Path("questions.json"), "--dataset", "arag", "--corpus", "chunks.json")
    code, out, _ = readgate(*command, "--official", world / "musique.jsonl")
    assert code == 0
    assert f"b: {len(gold) - 1} chunks, 20 questions (20 with known gold), embedder hashed_words" in out
    assert f"gold recovered by the text of its passages: {1 - 1 / len(gold):.2%}" in out
    assert "gold passages that stand in no chunk: 1\n" in out
    assert "[0]" in readgate("index", "search", "b", gold[1])[1]
    code, _, err = readgate(*command, "--chunking", "passage", "--out", "c")
    assert (code, err.count("\n"), "come packed" in err) == (2, 1, True)


def test_verify_passes_an_untouched_bundle_and_fails_an_altered_one(here: Path, readgate: Command) -> None:
    assert readgate("index", "verify", "bundles/musique")[0] == 0
    shutil.copytree(here / "bundles" / "musique", here / "altered")
    (here / "altered" / "questions.jsonl").write_text("")
    code, out, err = readgate("index", "verify", "altered")
    assert (code, out) == (1, "")
    assert err == f"readgate: altered/questions.jsonl was altered since the bundle was built; {AGAIN}\n"
    assert readgate("index", "stats", "altered")[0] == 2
    assert readgate("index", "verify", "nowhere")[0] == 2
    (here / "altered" / "questions.jsonl").write_bytes(
        (here / "bundles" / "musique" / "questions.jsonl").read_bytes()
    )
    (here / "altered" / "notes.txt").write_text("mine")
    code, out, _ = readgate("index", "verify", "altered")
    assert (code, out.splitlines()[1:]) == (0, ["  notes.txt is no file of the bundle and is not read"])


@pytest.mark.parametrize(
    "words", [("stats", "altered"), ("recall", "altered"), ("search", "altered", "film")], ids=" ".join
)
@pytest.mark.parametrize("name", ["chunks.jsonl", "questions.jsonl", "vectors.npy", "lexical/meta.json"])
def test_what_reads_an_altered_bundle_names_the_file(
    here: Path, readgate: Command, name: str, words: tuple[str, ...]
) -> None:
    shutil.copytree(here / "bundles" / "musique", here / "altered")
    content = bytearray((here / "altered" / name).read_bytes())
    content[len(content) // 2] ^= 0x80
    (here / "altered" / name).write_bytes(content)
    code, out, err = readgate("index", *words)
    assert (code, out) == (2, "")
    assert err == f"readgate: altered/{name} was altered since the bundle was built; {AGAIN}\n"


def test_stats_and_recall_are_figures_for_people_and_for_programs(here: Path, readgate: Command) -> None:
    del here
    code, out, _ = readgate("index", "stats", "bundles/hotpotqa", "--json")
    figures = orjson.loads(out)
    assert (code, figures["n_questions"], figures["embedder"]) == (0, 20, "hashed_words")
    code, out, _ = readgate("index", "stats", "bundles/hotpotqa")
    assert code == 0
    shown = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert (shown["bundle_hash"], shown["unmatched_gold"]) == (figures["bundle_hash"], "none")
    assert shown["questions_by_hops"] == "; ".join(
        f"{h} {n}" for h, n in figures["questions_by_hops"].items()
    )
    assert f"mean {figures['chunk_tokens']['mean']:,.5g}" in shown["chunk_tokens"]
    assert shown["bytes"] == f"{figures['bytes']:,}"
    code, out, _ = readgate("index", "recall", "bundles/hotpotqa", "--json")
    table = orjson.loads(out)
    assert list(table) == ["n_questions", "bm25", "dense", "hybrid", "hybrid_by_depth"]
    code, out, _ = readgate("index", "recall", "bundles/hotpotqa")
    lines = out.splitlines()
    assert lines[0] == "20 questions with known gold, in %"
    assert lines[2].split() == ["bm25", *(f"{100 * value:.1f}" for value in table["bm25"].values())]
    assert lines[1].split() == list(table["bm25"])
    shallow = [f"{100 * table['hybrid_by_depth']['20'][name]:.1f}" for name in ("recall@5", "recall@10")]
    assert lines[6].split()[:6] == ["hybrid,", "depth", "20", *shallow, "–"]


@pytest.mark.parametrize("query", ["who founded it", "NOT *", '"', "don't", "", "\U0001f600 AND (", "-" * 9])
def test_any_text_is_a_query(here: Path, readgate: Command, query: str) -> None:
    del here
    code, out, err = readgate("index", "search", "bundles/hotpotqa", "--", query)
    assert (code, err) == (0, "")
    assert out.startswith(("1. ", "nothing matches"))
    code, out, _ = readgate("index", "search", "bundles/hotpotqa", "-k", 3, "--json", "--", query)
    assert code == 0
    assert len(orjson.loads(out)) <= 3


BROKEN = {
    "missing": (None, "nowhere.json"),
    "empty": (b"", "source.json"),
    "truncated": (b'[{"_id": "1", "question": "Who', "source.json"),
    "of another kind": (b'{"id": "2hop__1", "paragraphs": []}\n', "source.json"),
}


@pytest.mark.parametrize(("content", "name"), BROKEN.values(), ids=BROKEN)
def test_a_broken_source_is_one_sentence_that_names_it_and_nothing_is_left(
    here: Path, readgate: Command, snapshot: Snapshot, content: bytes | None, name: str
) -> None:
    if content is not None:
        (here / name).write_bytes(content)
    before = snapshot()
    code, out, err = readgate(*build(Path(name), "--dataset", "hotpotqa"))
    assert (code, out) == (2, "")
    assert err.startswith("readgate: ")
    assert name in err
    assert err.count("\n") == 1
    assert snapshot() == before


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--dataset", "trivia"), "'trivia' is not one of"),
        (("--dataset", "hotpotqa", "--chunking", "pages"), "pages"),
        (("--dataset", "hotpotqa", "--seed", str(2**63)), "--seed"),
        (("--dataset", "hotpotqa", "--embedder", "minilmm"), "minilmm"),
        (("--dataset", "hotpotqa", "--out", "small.toml"), "small.toml"),
        (("--dataset", "hotpotqa", "--corpus", "nowhere.json"), "nowhere.json"),
    ],
)
def test_wrong_use_is_one_sentence(
    here: Path, world: Path, readgate: Command, more: tuple[str, ...], sentence: str
) -> None:
    del here
    code, out, err = readgate(*build(world / "hotpotqa.json", *more))
    assert (code, out) == (2, "")
    assert err.startswith("readgate: ")
    assert sentence in err


def test_what_a_build_repaired_and_could_not_place_is_listed(world: Path) -> None:
    bundle = open_bundle(world / "bundles" / "hotpotqa", verify_hashes=False)
    from_manifest = type(bundle.manifest)
    facts = {name: getattr(bundle.manifest, name) for name in from_manifest.__slots__}
    unmatched = tuple(UnmatchedGold(f"q{n}", f"Page {n}") for n in range(SHOWN_PROBLEMS + 2))
    manifest = from_manifest(
        **{**facts, "n_truncated": 3, "notes": {"null answers": 4}, "unmatched_gold": unmatched}
    )
    lines = list(described(BundleSummary(Path("b"), manifest, already_there=False, cached_vectors=9)))
    assert lines[1:5] == [
        "  vectors that were made before, from the cache: 9",
        "  chunks too long to be embedded whole: 3",
        "  null answers: 4",
        "  gold passages that stand in no chunk: 22",
    ]
    assert lines[5] == "    'Page 0' of question q0"
    assert lines[-1] == "    and 2 more, all in the bundle's manifest.json"
    assert len(lines) == 5 + SHOWN_PROBLEMS + 1


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        (".", "is the folder this command runs in"),
        ("", "is the folder this command runs in"),
        ("/", "where a disk is mounted"),
        ("loop", "leads nowhere"),
        ("loop/b", "leads nowhere"),
        ("a\udcff", "no path in UTF-8"),
        ("/dev/null", "is no bundle"),
    ],
)
def test_a_place_that_no_bundle_can_take_is_refused_before_anything_is_read(
    here: Path, readgate: Command, out: str, sentence: str
) -> None:
    (here / "loop").symlink_to("loop")
    before = sorted(here.iterdir())
    code, said, err = readgate(
        *("index", "build", "--dataset", "hotpotqa", "--source", "absent.json", "--out", out)
    )
    assert (code, said) == (2, "")
    assert sentence in err
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("cache", ["b", "b/v", ".b.building/v", ".b.lock"])
def test_a_cache_within_the_bundle_is_refused(here: Path, world: Path, readgate: Command, cache: str) -> None:
    before = sorted(here.iterdir())
    code, _, err = readgate(*build(world / "hotpotqa.json", "--dataset", "hotpotqa", "--vector-cache", cache))
    assert code == 2
    assert "would stand within the bundle" in err
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("option", [("--dimensions", 5), ("--vector-cache", "v")])
def test_how_to_embed_cannot_be_said_of_no_embedder(
    here: Path, world: Path, readgate: Command, option: tuple[str, object]
) -> None:
    del here
    code, _, err = readgate(
        *build(world / "hotpotqa.json", "--dataset", "hotpotqa", *option, "--embedder", "none")
    )
    assert code == 2
    assert "--embedder none does not" in err


def test_what_breaks_on_a_damaged_file_names_it_though_its_size_and_time_are_kept(
    here: Path, world: Path, readgate: Command
) -> None:
    shutil.copytree(world / "bundles" / "hotpotqa", here / "b")
    path = here / "b" / "chunks.starts.npy"
    before = path.stat()
    table = np.load(path)
    table[1:-1] = table[1]
    np.save(path, table)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    for command in (("search", "b", "town"), ("recall", "b"), ("stats", "b")):
        code, out, err = readgate("index", *command)
        assert (code, out) == (2, "")
        assert err == f"readgate: b/chunks.starts.npy was altered since the bundle was built; {AGAIN}\n"


def test_a_build_is_told_as_json(here: Path, world: Path, readgate: Command) -> None:
    del here
    code, out, _ = readgate(*build(world / "hotpotqa.json", "--dataset", "hotpotqa", "--json"))
    told = orjson.loads(out)
    assert (code, told["path"], told["already_there"], told["cached_vectors"]) == (0, "b", False, 0)
    assert told["manifest"]["bundle_hash"] == open_bundle(Path("b"), verify_hashes=True).manifest.bundle_hash


@pytest.mark.parametrize(("recall", "warnings"), [(0.98, 0), (0.9799, 1)])
def test_a_graph_is_told_with_what_it_finds_and_a_warning_when_that_is_little(
    world: Path, recall: float, warnings: int
) -> None:
    manifest = open_bundle(world / "bundles" / "hotpotqa", verify_hashes=False).manifest
    graph = VectorFacts("usearch", "vectors.usearch", 136_533, 96, recall, 1000)
    summary = BundleSummary(
        Path("b"), replace(manifest, vectors=graph), already_there=False, cached_vectors=0
    )
    lines = list(described(summary))
    assert lines[1] == (
        "  vectors: more than 136,533, so searched with usearch, 96 candidates; "
        f"recall@50 {recall:.4f} of exact search, on 1000 questions"
    )
    assert sum("warning: this recall is below 0.98" in line for line in lines) == warnings
