"""The failure taxonomy: why a scored trajectory is wrong, from its saved steps and its verdict.

A wrong row gets one exclusive label, by the priority discipline > post > retrieval > ambiguous, and
beside it every indicator that holds. All is measured at the evidence of the last ``final``, the same
that a gate rules on; a forced answer had everything in view.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict, get_args

from evaluator.core.journal import Verdict
from evaluator.core.outcome import Abstained, Answered
from evaluator.core.ports import EntityExtractor
from evaluator.core.trajectory import Trajectory
from evaluator.evidence.coverage import low_evidence, snippet_only
from evaluator.gates.evidence import Evidence, final_evidence

Label: TypeAlias = Literal["correct", "abstained", "discipline", "post", "retrieval", "ambiguous", "unknown"]
Subtype: TypeAlias = Literal["no_read", "snippet_only", "low_evidence"]

LABELS: tuple[Label, ...] = get_args(Label)
SUBTYPES: tuple[Subtype, ...] = get_args(Subtype)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the taxonomy says of one scored trajectory.

    Attributes:
        label: The exclusive label; ``unknown`` is a wrong row that is not discipline and whose gold
            chunks are not known.
        subtype: Of a discipline row, the first rule that holds; else None.
        no_read: No chunk was read, whatever the answer was worth.
        snippet_only: The answer was seen in snippets alone; None without an answer or an entity in it.
        low_evidence: Too little of the question was read; None when it names no entity.
        gold_shown_any: Some gold chunk stood in a result list; None when gold is unknown, as below.
        gold_shown_all: Every gold chunk did.
        gold_read_any: Some gold chunk was read.
        gold_read_all: Every gold chunk was.
        ind_disc: Wrong, and some rule of discipline holds.
        ind_post: Wrong, and some gold chunk was read.
        ind_retr: Wrong, and no gold chunk stood in any result list.
        ind_amb: Wrong, gold known, and none of the three above.
        post_partial: Wrong, and some gold chunks were read but not all.
        post_all: Wrong, and all gold chunks were read.
    """

    label: Label
    subtype: Subtype | None
    no_read: bool
    snippet_only: bool | None
    low_evidence: bool | None
    gold_shown_any: bool | None
    gold_shown_all: bool | None
    gold_read_any: bool | None
    gold_read_all: bool | None
    ind_disc: bool
    ind_post: bool
    ind_retr: bool
    ind_amb: bool
    post_partial: bool
    post_all: bool


class _Rules(TypedDict):
    """The rules of discipline, in the order in which they name the subtype."""

    no_read: bool
    snippet_only: bool | None
    low_evidence: bool | None


class _Gold(TypedDict):
    """How much of the gold was shown and read; all None when gold is unknown."""

    gold_shown_any: bool | None
    gold_shown_all: bool | None
    gold_read_any: bool | None
    gold_read_all: bool | None


def label(trajectory: Trajectory, verdict: Verdict | None, extract: EntityExtractor) -> Labels:
    """Classify one scored trajectory.

    Args:
        trajectory: An abstention, or an answer that has a verdict.
        verdict: The current one of the primary judge on its final answer; abstentions have none.
        extract: Finds entities.

    Raises:
        ValueError: The trajectory is not scored: it failed, or nobody has judged its answer.
    """
    answer = _scored_answer(trajectory, verdict)
    evidence = final_evidence(trajectory.steps, trajectory.outcome)
    rules = _rules(trajectory, answer, evidence, extract)
    gold = _gold(trajectory.gold_chunks or (), evidence)
    is_wrong = verdict is not None and verdict.verdict == "incorrect" and answer is not None
    subtype = next((name for name in SUBTYPES if rules[name]), None) if is_wrong else None
    post = is_wrong and gold["gold_read_any"] is True
    retrieval = is_wrong and gold["gold_shown_any"] is False
    ambiguous = is_wrong and gold["gold_shown_any"] is not None and not (subtype or post or retrieval)
    held: dict[Label, bool] = {
        "abstained": answer is None,
        "correct": not is_wrong,
        "discipline": subtype is not None,
        "post": post,
        "retrieval": retrieval,
        "ambiguous": ambiguous,
    }
    return Labels(
        label=next((name for name, holds in held.items() if holds), "unknown"),
        subtype=subtype,
        **rules,
        **gold,
        ind_disc=subtype is not None,
        ind_post=post,
        ind_retr=retrieval,
        ind_amb=ambiguous,
        post_partial=post and not gold["gold_read_all"],
        post_all=post and gold["gold_read_all"] is True,
    )


def _scored_answer(trajectory: Trajectory, verdict: Verdict | None) -> str | None:
    """The judged answer, or None for an abstention."""
    if isinstance(trajectory.outcome, Abstained):
        return None
    if not isinstance(trajectory.outcome, Answered) or verdict is None or verdict.verdict == "unjudged":
        raise ValueError(f"trajectory {trajectory.trajectory_id} is not scored")
    if verdict.answer != trajectory.outcome.answer:
        raise ValueError(f"the verdict of trajectory {trajectory.trajectory_id} is of another answer")
    return trajectory.outcome.answer


def _rules(
    trajectory: Trajectory, answer: str | None, evidence: Evidence, extract: EntityExtractor
) -> _Rules:
    question, shown, read = trajectory.question, evidence.shown_text, evidence.read_text
    return _Rules(
        no_read=trajectory.read_count == 0,
        snippet_only=None if answer is None else snippet_only(answer, question, shown, read, extract),
        low_evidence=low_evidence(question, read, extract),
    )


def _gold(chunks: Collection[str], evidence: Evidence) -> _Gold:
    gold, shown, read = set(chunks), set(evidence.shown_chunks), set(evidence.read_chunks)
    is_known = bool(gold)
    return _Gold(
        gold_shown_any=bool(gold & shown) if is_known else None,
        gold_shown_all=gold <= shown if is_known else None,
        gold_read_any=bool(gold & read) if is_known else None,
        gold_read_all=gold <= read if is_known else None,
    )
