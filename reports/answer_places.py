"""Where a gold answer stood before the model: in text it read, was given, or only saw as a snippet.

This is the mechanism behind a gain, and the measure of how far a run's settings decide its effect.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from evaluator.core.trajectory import Injected, Searched, Trajectory, WasRead
from evaluator.evidence.normalise import fold
from evaluator.gates.evidence import Evidence

NOT_LOCATABLE = frozenset({"", "yes", "no"})
"""Gold answers, folded, that are no words of a passage."""

ARTICLES = ("a ", "an ", "the ")

GoldChunk: TypeAlias = tuple[str, str, str]
"""Dataset, question id, chunk id."""


@dataclass(frozen=True, slots=True)
class Places:
    """Whether some gold answer stands in each kind of text; a title belongs to its text."""

    snippet: bool = False
    read: bool = False
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """How often the decisive fact lies beyond what a search result shows.

    Attributes:
        n: Gold chunks, counted per question, that were shown as a result and read in full somewhere in
            the run, and whose text holds a gold answer of the question.
        beyond: Those of them whose result, title and snippet, does not hold it.
    """

    n: int
    beyond: int

    @property
    def share(self) -> float | None:
        """Beyond over n; None when nothing could be measured."""
        return self.beyond / self.n if self.n else None


@dataclass(slots=True)
class AnswerFinder:
    """Looks for gold answers in the texts of trajectories, and remembers the gold chunks among them."""

    _gold_snippets: dict[GoldChunk, bool] = field(default_factory=dict)
    _gold_texts: dict[GoldChunk, bool] = field(default_factory=dict)

    def places(self, trajectory: Trajectory, evidence: Evidence) -> Places:
        """Where a gold answer stood when the answer that counts was given.

        Args:
            trajectory: Its gold chunks are remembered for ``reach``, whatever the outcome.
            evidence: Of its last ``final``.
        """
        forms = _locatable(trajectory.answers)
        if not forms:
            return Places()
        self._note_gold(trajectory, forms)
        given = "\n".join(step.text for step in trajectory.steps if isinstance(step, Injected))
        return Places(
            snippet=_holds(evidence.shown_text, forms),
            read=_holds(evidence.read_text, forms),
            injected=_holds(given, forms),
        )

    def reach(self) -> Reach:
        """Over all trajectories seen so far."""
        measured = [
            self._gold_snippets[chunk]
            for chunk, holds in self._gold_texts.items()
            if holds and chunk in self._gold_snippets
        ]
        return Reach(n=len(measured), beyond=measured.count(False))

    def _note_gold(self, trajectory: Trajectory, forms: tuple[str, ...]) -> None:
        gold = frozenset(trajectory.gold_chunks or ())
        for step in trajectory.steps if gold else ():
            if isinstance(step, Searched):
                for hit in step.hits:
                    chunk = trajectory.cell.dataset, trajectory.question_id, hit.chunk_id
                    if hit.chunk_id in gold and chunk not in self._gold_snippets:
                        self._gold_snippets[chunk] = _holds(f"{hit.title}\n{hit.snippet}", forms)
            elif isinstance(step, WasRead) and step.new and step.chunk_id in gold:
                chunk = trajectory.cell.dataset, trajectory.question_id, step.chunk_id
                if chunk not in self._gold_texts:
                    self._gold_texts[chunk] = _holds(f"{step.title}\n{step.text}", forms)


def _locatable(answers: tuple[str, ...]) -> tuple[str, ...]:
    """The gold answers as words without a leading article: "The Beatles" stands wherever "Beatles" does."""
    forms: dict[str, None] = {}
    for answer in answers:
        words = fold(answer)
        for article in ARTICLES:
            words = words.removeprefix(article)
        if words not in NOT_LOCATABLE:
            forms[words] = None
    return tuple(forms)


def _holds(text: str, forms: tuple[str, ...]) -> bool:
    words = f" {fold(text)} "
    return any(f" {form} " in words for form in forms)
