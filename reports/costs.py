"""What each cell was billed, summed from the call journal.

Three amounts that add up to what the budget's ledger holds: agents, judges, and the reserves of
attempts whose cost is not known and may yet be billed.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.core.cell import Cell
from evaluator.core.journal import Purpose, Returned, Sent


@dataclass(frozen=True, slots=True)
class Costs:
    """USD of one cell.

    Attributes:
        agent: Billed for its trajectories, repeated and failed attempts included.
        judge: Billed for judging it.
        reserved: Set aside for attempts of unknown cost, agents and judges alike.
    """

    agent: float = 0.0
    judge: float = 0.0
    reserved: float = 0.0


def costs_by_cell(lines: Iterable[Sent | Returned]) -> dict[Cell, Costs]:
    """Sum a journal's lines, in whatever order they come.

    An attempt counts with its known cost when one line bears it, and else with its reserve.
    """
    reserves: dict[str, tuple[Cell, float]] = {}
    settled: dict[str, tuple[Cell, Purpose, float]] = {}
    for line in lines:
        if isinstance(line, Sent):
            reserves[line.attempt_id] = line.cell, line.reserved_usd
        elif line.cost_usd is not None:
            settled[line.attempt_id] = line.cell, line.purpose, line.cost_usd
    amounts: dict[Cell, dict[str, list[float]]] = {}
    for cell, purpose, usd in settled.values():
        amounts.setdefault(cell, {}).setdefault(purpose, []).append(usd)
    for attempt in reserves.keys() - settled.keys():
        cell, usd = reserves[attempt]
        amounts.setdefault(cell, {}).setdefault("reserved", []).append(usd)
    # fsum is exact, so that the order of the lines does not show in the last digit.
    return {
        cell: Costs(*(math.fsum(parts.get(part, ())) for part in ("agent", "judge", "reserved")))
        for cell, parts in amounts.items()
    }
