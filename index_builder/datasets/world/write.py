"""Writes a generated world to files named and formed as the three official sets are."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import orjson

from index_builder.datasets.world.drafting import SHARES, draft
from index_builder.datasets.world.facts import World
from index_builder.datasets.world.layout import LATE_SHARE, SNIPPET, Layout, Page
from index_builder.datasets.world.official import FORMATS, spaced
from index_builder.errors import InputError

FEWEST_PASSAGES = 50
MOST_PASSAGES = 1_000_000
STREAMED_ABOVE = 50_000

FILES: Mapping[str, tuple[str, str]] = {
    "hotpotqa": ("hotpotqa.json", "corpus/hotpotqa_corpus.json"),
    "two_wiki": ("2wikimultihopqa.json", "corpus/2wikimultihopqa_corpus.json"),
    "musique": ("musique.jsonl", "corpus/musique_corpus.json"),
}
"""Dataset to its files of questions and passages, below the folder of the world."""


@dataclass(frozen=True, slots=True)
class SetSummary:
    """What was written of one set.

    Attributes:
        dataset: hotpotqa, two_wiki or musique.
        source: The file of questions.
        corpus: The file of passages.
        passages: How many passages it has.
        questions: How many questions were written; fewer than asked for when the world has no more.
        kinds: Kind of question to how many.
        facts: How many facts the questions rest on.
        late_facts: How many of these end beyond the first ``SNIPPET`` characters of their passage.
    """

    dataset: str
    source: Path
    corpus: Path
    passages: int
    questions: int
    kinds: Mapping[str, int]
    facts: int
    late_facts: int


@dataclass(frozen=True, slots=True)
class WorldSummary:
    """What was written."""

    sets: tuple[SetSummary, ...]
    questions_asked_for: int

    @property
    def late_share(self) -> float:
        """The measured share of decisive facts that a leading snippet does not hold."""
        return sum(each.late_facts for each in self.sets) / sum(each.facts for each in self.sets)

    def lines(self) -> Iterator[str]:
        """The summary for a person, a sentence a line."""
        for each in self.sets:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in each.kinds.items())
            yield f"{each.source}: {each.questions:,} questions ({kinds})"
            if each.questions < self.questions_asked_for:
                yield (
                    f"{each.dataset}: {self.questions_asked_for:,} questions were asked for; "
                    f"a world of {each.passages:,} passages has {each.questions:,}, and all were used"
                )
            yield f"{each.corpus}: {each.passages:,} passages"
        yield (
            f"of the facts that the questions ask for, {self.late_share:.1%} end beyond the first {SNIPPET} "
            "characters of their passage"
        )


def write_world(
    out: Path, *, questions: int, passages: int, seed: int, late_share: float = LATE_SHARE
) -> WorldSummary:
    """Write a world for each of the three sets; the same arguments write the same bytes.

    Every file is written under another name and put in its place when complete.

    Args:
        out: The folder, made where it is absent.
        questions: Questions a set; a world that has fewer gives all of them.
        passages: Passages a set; above ``STREAMED_ABOVE`` the corpora are JSON lines.
        seed: What the world is drawn from.
        late_share: The fraction of facts that stand beyond a leading snippet.

    Raises:
        InputError: When a number is out of range or the folder cannot be written.
    """
    _check(questions, passages, late_share)
    try:
        sets = tuple(
            # A world of its own each, so that no set holds the answers of another.
            _write_set(out, name, Layout(World(3 * seed + number, passages), late_share), questions)
            for number, name in enumerate(FILES)
        )
    except OSError as error:
        raise InputError(f"the world cannot be written to {out}: {error.strerror or error}") from error
    return WorldSummary(sets, questions)


def _check(questions: int, passages: int, late_share: float) -> None:
    if not FEWEST_PASSAGES <= passages <= MOST_PASSAGES:
        msg = f"a world has {FEWEST_PASSAGES} to {MOST_PASSAGES:,} passages, not {passages:,}"
        raise InputError(msg)
    if questions < 1:
        raise InputError(f"a world has at least 1 question a set, not {questions:,}")
    if not 0 <= late_share <= 1:
        raise InputError(f"late_share is a fraction from 0 to 1, not {late_share}")


def _write_set(out: Path, dataset: str, layout: Layout, questions: int) -> SetSummary:
    source, corpus = (out / name for name in FILES[dataset])
    kinds = Counter(dict.fromkeys(SHARES[dataset], 0))
    lateness: Counter[bool] = Counter()

    def records() -> Iterator[bytes]:
        for asked in itertools.islice(draft(layout.world, dataset), questions):
            kinds[asked.kind] += 1
            lateness.update(
                layout.page(step.subject).is_beyond_snippet(step.relation) for step in asked.steps
            )
            yield orjson.dumps(FORMATS[dataset].record(layout, asked))

    _write(source, records(), _LINES if source.suffix == ".jsonl" else _ARRAY)
    corpus = _write_corpus(corpus, layout, _by_title if dataset == "hotpotqa" else _titled_text)
    return SetSummary(
        dataset=dataset,
        source=source,
        corpus=corpus,
        passages=layout.world.passages,
        questions=kinds.total(),
        kinds=dict(kinds),
        facts=lateness.total(),
        late_facts=lateness[True],
    )


def _write_corpus(path: Path, layout: Layout, entry: Callable[[Page], bytes]) -> Path:
    """Write the passages in the official form, or as JSON lines beside where that would stand."""
    lines = path.with_suffix(".jsonl")
    pages = map(layout.page, range(layout.world.passages))
    if layout.world.passages > STREAMED_ABOVE:
        _write(lines, map(_titled_text, pages), _LINES)
        path.unlink(missing_ok=True)
        return lines
    _write(path, map(entry, pages), _OBJECT if entry is _by_title else _ARRAY)
    lines.unlink(missing_ok=True)
    return path


def _titled_text(page: Page) -> bytes:
    return orjson.dumps({"title": page.title, "text": page.text})


def _by_title(page: Page) -> bytes:
    return orjson.dumps(page.title) + b":" + orjson.dumps(spaced(page.sentences))


class _Form(NamedTuple):
    """What stands before, between and after the entries of a file."""

    opening: bytes
    separator: bytes
    closing: bytes


_LINES = _Form(b"", b"\n", b"\n")
_ARRAY = _Form(b"[\n", b",\n", b"\n]\n")
_OBJECT = _Form(b"{\n", b",\n", b"\n}\n")


def _write(path: Path, entries: Iterable[bytes], form: _Form) -> None:
    """Write entries as they come, under a temporary name until the last of them is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(form.opening)
            for number, entry in enumerate(entries):
                if number:
                    file.write(form.separator)
                file.write(entry)
            file.write(form.closing)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
