"""The ``funnel`` table: what became of the answers that an enforced gate did not take as they were.

Every stage counts, among the scored rows of a cell, those in which the gate fired and which meet it;
the stages are not nested, since an agent can change its answer without having read anything.
"""

from dataclasses import dataclass

from evaluator.core.cell import Cell
from reports.frame import Frame
from reports.measures import CORRECT, State


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelRow:
    """One cell under an enforced gate.

    Attributes:
        n_scored: Scored rows; the others are accounted for as in ``cells``.
        fired: The gate turned a ``final`` away, or let it pass only because no correction was left.
        complied: Then a chunk was read before the answer that counts.
        read_gold: Then a gold chunk was; None when no gold of the cell is known.
        changed: The answer that counts differs from the first one turned away, or is withdrawn.
        gained: The first answer turned away was incorrect, the one that counts is correct.
        lost: The first answer turned away was correct, the one that counts is not.
        n_rejected_unjudged: Fired rows whose first answer has no verdict: neither gained nor lost.
    """

    dataset: str
    condition: str
    n_expected: int
    n_scored: int
    n_unjudged: int
    n_failed: int
    n_missing: int
    fired: int
    complied: int
    read_gold: int | None
    changed: int
    gained: int
    lost: int
    n_rejected_unjudged: int


def funnel_rows(frame: Frame) -> tuple[FunnelRow, ...]:
    """One row for every cell whose gate is enforced, in the experiment's order."""
    return tuple(
        _funnel_row(frame, cell)
        for cell in frame.expected
        if frame.condition(cell.condition).gate.mode == "enforce"
    )


def _funnel_row(frame: Frame, cell: Cell) -> FunnelRow:
    everything = frame.of(cell)
    scored = everything[everything["state"] == State.SCORED]
    rows = scored[scored["turned_away"]]
    correct = rows["kind"] == CORRECT
    is_known = bool(scored["known_gold"].any()) or not len(scored)
    return FunnelRow(
        dataset=cell.dataset,
        condition=cell.condition,
        n_expected=frame.expected[cell],
        n_scored=len(scored),
        n_unjudged=int((everything["state"] == State.UNJUDGED).sum()),
        n_failed=int((everything["state"] == State.FAILED).sum()),
        n_missing=frame.expected[cell] - len(everything),
        fired=len(rows),
        complied=int(rows["complied"].sum()),
        read_gold=int(rows["read_gold"].sum()) if is_known else None,
        changed=int(rows["changed"].sum()),
        gained=int((correct & (rows["rejected"] == 0)).sum()),
        lost=int((~correct & (rows["rejected"] == 1)).sum()),
        n_rejected_unjudged=int((rows["rejected"] < 0).sum()),
    )
