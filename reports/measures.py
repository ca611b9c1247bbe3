"""What one trajectory contributes to the tables: one row of plain numbers.

Everything a table needs of a trajectory is measured here, once, while its line is in memory;
afterwards only the numbers are kept.
"""

from enum import IntEnum
from typing import NamedTuple, TypedDict

from evaluator.core.journal import Verdict
from evaluator.core.outcome import Abstained, Answered, Failed
from evaluator.core.ports import EntityExtractor
from evaluator.core.trajectory import Ruled, Trajectory, WasRead
from evaluator.evidence.decline import is_decline
from evaluator.evidence.normalise import normalise_answer
from evaluator.gates.evidence import Evidence, final_evidence, forced_by_gate
from judges.contain import is_yes_no
from judges.taxonomy import label
from reports.answer_places import AnswerFinder
from reports.current_verdicts import CurrentVerdicts


class State(IntEnum):
    """Where a trajectory stands in the account; of several arms the largest tells why a pair is lost."""

    SCORED = 0
    UNJUDGED = 1
    FAILED = 2
    MISSING = 3


CLASSES = (
    "correct",
    "abstained",
    "no_read",
    "snippet_only",
    "low_evidence",
    "post",
    "retrieval",
    "ambiguous",
    "unknown",
)
"""The exclusive labels of the taxonomy, discipline by its subtypes."""

CORRECT = CLASSES.index("correct")
ABSTAINED = CLASSES.index("abstained")

FROM_LABELS = (
    *("ind_disc", "ind_post", "ind_retr", "ind_amb", "post_partial", "post_all"),
    *("gold_shown_any", "gold_shown_all", "gold_read_any", "gold_read_all"),
)
"""Columns taken over from the taxonomy's labels; what it leaves open counts as not so."""


class Row(NamedTuple):
    """One trajectory in numbers; all but ``state`` and the codes concern scored rows only.

    ``dataset``, ``condition`` and ``question`` are codes that the frame gives out; ``kind`` is a position
    in ``CLASSES``. ``exhausted``: the gate fired at the last ``final`` and let it pass, or ended the
    episode, because no correction was left. ``no_*_rule``: the text named no entity to look for.
    ``yes_no``: the gold answer is one of the two. ``in_*`` say where a gold answer stood. The last five
    concern the gate: ``rejected`` is the verdict on the first answer it turned away (1 correct,
    0 incorrect, −1 none).
    """

    state: int
    dataset: int = -1
    condition: int = -1
    question: int = -1
    kind: int = -1
    declined: bool = False
    forced: bool = False
    forced_by_gate: bool = False
    exhausted: bool = False
    known_gold: bool = False
    ind_disc: bool = False
    ind_post: bool = False
    ind_retr: bool = False
    ind_amb: bool = False
    post_partial: bool = False
    post_all: bool = False
    no_snippet_rule: bool = False
    no_evidence_rule: bool = False
    gold_shown_any: bool = False
    gold_shown_all: bool = False
    gold_read_any: bool = False
    gold_read_all: bool = False
    contain_substring: bool = False
    contain_token: bool = False
    yes_no: bool = False
    searches: int = 0
    reads: int = 0
    turns: int = 0
    corrections: int = 0
    retrieved_tokens: int = 0
    seconds: float = 0.0
    read_fired: bool = False
    in_snippet: bool = False
    in_read: bool = False
    in_injected: bool = False
    turned_away: bool = False
    complied: bool = False
    read_gold: bool = False
    changed: bool = False
    rejected: int = -1


class _Gate(TypedDict):
    """What followed the first ``final`` that the gate did not take as it was."""

    turned_away: bool
    complied: bool
    read_gold: bool
    changed: bool
    rejected: int


def measure(
    trajectory: Trajectory, verdicts: CurrentVerdicts, finder: AnswerFinder, extract: EntityExtractor
) -> Row:
    """Measure one trajectory; its codes are left for the frame to set.

    Args:
        trajectory: The line that counts for its id.
        verdicts: Those of the primary judge.
        finder: Shared by all trajectories of a run.
        extract: Finds the entities by which failures are labelled.
    """
    outcome = trajectory.outcome
    evidence = final_evidence(trajectory.steps, outcome)
    places = finder.places(trajectory, evidence)
    if isinstance(outcome, Failed):
        return Row(State.FAILED)
    verdict = verdicts.on(trajectory.trajectory_id, outcome.answer) if isinstance(outcome, Answered) else None
    if isinstance(outcome, Answered) and (verdict is None or verdict.verdict == "unjudged"):
        return Row(State.UNJUDGED)
    labels = label(trajectory, verdict, extract)
    return Row(
        State.SCORED,
        kind=CLASSES.index(labels.subtype or labels.label),
        declined=_declined(trajectory),
        forced=isinstance(outcome, Answered) and outcome.forced,
        forced_by_gate=forced_by_gate(trajectory.steps, outcome),
        exhausted=_exhausted(trajectory),
        known_gold=labels.gold_read_any is not None,
        no_snippet_rule=labels.snippet_only is None,
        no_evidence_rule=labels.low_evidence is None,
        contain_substring=verdict is not None and verdict.contain_substring,
        contain_token=verdict is not None and verdict.contain_token,
        yes_no=is_yes_no(trajectory.answers),
        searches=trajectory.search_count,
        reads=trajectory.read_count,
        turns=trajectory.turns,
        corrections=trajectory.corrections,
        retrieved_tokens=trajectory.retrieved_tokens,
        seconds=trajectory.seconds,
        read_fired=any(ruled.fired.read for ruled in _rulings(trajectory)),
        in_snippet=places.snippet,
        in_read=places.read,
        in_injected=places.injected,
        **{name: getattr(labels, name) is True for name in FROM_LABELS},
        **_gate(trajectory, verdicts, evidence),
    )


def _rulings(trajectory: Trajectory) -> list[Ruled]:
    return [step for step in trajectory.steps if isinstance(step, Ruled)]


def _declined(trajectory: Trajectory) -> bool:
    outcome = trajectory.outcome
    if isinstance(outcome, Answered):
        return is_decline(outcome.answer)
    return isinstance(outcome, Abstained) and outcome.reason == "declined"


def _exhausted(trajectory: Trajectory) -> bool:
    """Whether the gate had to let the last ``final`` be, its corrections used up."""
    outcome, rulings = trajectory.outcome, _rulings(trajectory)
    if isinstance(outcome, Abstained) and outcome.reason == "gate_exhausted":
        return True
    if not rulings or (isinstance(outcome, Answered) and outcome.forced):
        return False
    return rulings[-1].decision == "exhausted"


def _gate(trajectory: Trajectory, verdicts: CurrentVerdicts, evidence: Evidence) -> _Gate:
    firings = [
        ruled for ruled in _rulings(trajectory) if ruled.decision in {"rejected", "injected", "exhausted"}
    ]
    if not firings:
        return _Gate(turned_away=False, complied=False, read_gold=False, changed=False, rejected=-1)
    first, outcome = firings[0], trajectory.outcome
    read_since = {
        step.chunk_id
        for step in trajectory.steps
        if isinstance(step, WasRead) and step.new and step.turn >= first.turn
    } & set(evidence.read_chunks)
    kept = isinstance(outcome, Answered) and normalise_answer(outcome.answer) == normalise_answer(
        first.answer
    )
    return _Gate(
        turned_away=True,
        complied=bool(read_since),
        read_gold=bool(read_since & set(trajectory.gold_chunks or ())),
        changed=not kept,
        rejected=_truth(verdicts.on(trajectory.trajectory_id, first.answer, "rejected")),
    )


def _truth(verdict: Verdict | None) -> int:
    if verdict is None or verdict.verdict == "unjudged":
        return -1
    return int(verdict.verdict == "correct")
