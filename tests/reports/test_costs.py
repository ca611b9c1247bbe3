"""Costs of cells from journal lines, whatever their order."""

import random

from evaluator.core.cell import Cell
from evaluator.core.journal import Purpose, Returned, Sent
from reports.costs import Costs, costs_by_cell

A, B = Cell("alpha", "none"), Cell("alpha", "gate")


Lines = list[Sent | Returned]


def _sent(attempt: str, cell: Cell = A, *, reserved: float = 0.5, purpose: Purpose = "agent") -> Sent:
    return Sent(
        attempt_id=attempt,
        purpose=purpose,
        cell=cell,
        trajectory_id="t",
        judge="",
        turn=1,
        request_sha256="h",
        requested_model="m",
        reserved_usd=reserved,
    )


def _returned(
    attempt: str, cost: float | None, cell: Cell = A, *, purpose: Purpose = "agent", status: int = 200
) -> Returned:
    return Returned(
        attempt_id=attempt,
        purpose=purpose,
        cell=cell,
        trajectory_id="t",
        judge="",
        turn=1,
        request_sha256="h",
        requested_model="m",
        status=status,
        returned_model="m",
        response_id="",
        usage=None,
        cost_usd=cost,
        latency_s=0.1,
        response=None,
        error=None,
    )


def test_everything_billed_counts_repeated_and_failed_attempts_included() -> None:
    lines: Lines = [_sent("a"), _returned("a", 0.25, status=500), _sent("b"), _returned("b", 0.5)]
    assert costs_by_cell(lines) == {A: Costs(agent=0.75)}


def test_an_attempt_that_never_returned_or_whose_cost_is_unknown_counts_as_its_reserve() -> None:
    lines: Lines = [_sent("a", reserved=0.5), _sent("b", reserved=0.25), _returned("b", None)]
    assert costs_by_cell(lines) == {A: Costs(reserved=0.75)}


def test_judging_stands_apart_and_its_unknown_costs_are_reserved_too() -> None:
    lines: Lines = [
        _sent("a", purpose="judge"),
        _returned("a", 0.125, purpose="judge"),
        _sent("b", purpose="judge", reserved=2.0),
    ]
    assert costs_by_cell(lines) == {A: Costs(judge=0.125, reserved=2.0)}


def test_cells_are_kept_apart() -> None:
    lines: Lines = [_sent("a"), _returned("a", 1.0), _sent("b", B), _returned("b", 2.0, B)]
    assert costs_by_cell(lines) == {A: Costs(agent=1.0), B: Costs(agent=2.0)}


def test_the_order_of_lines_changes_not_even_the_last_digit() -> None:
    lines: Lines = []
    for number in range(300):
        lines += [_sent(f"{number}", reserved=0.1), _returned(f"{number}", 0.1 if number % 3 else None)]
    shuffled = lines.copy()
    random.Random(4).shuffle(shuffled)
    assert costs_by_cell(shuffled) == costs_by_cell(lines)
