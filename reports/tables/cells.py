"""The ``cells`` table: what happened under each condition on each dataset.

Rates are unrounded fractions of the scored rows unless their name says otherwise; undefined is None.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.core.cell import Cell
from reports.costs import Costs
from reports.frame import Frame, Rows
from reports.measures import ABSTAINED, CLASSES, State

Mask = npt.NDArray[np.bool_]

NOTHING_BILLED = Costs()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """One cell. ``n_expected = n_scored + n_unjudged + n_failed + n_missing``.

    ``llm_acc``, ``abstain_rate`` and the ``p_*`` of the five labels add up to 1. ``p_no_read``,
    ``p_snippet_only`` and ``p_low_evidence`` add up to ``p_disc``; the four ``zero_read_*`` parts to
    ``zero_read_rate``. ``p_*_known`` and ``gold_*`` are over scored rows whose gold is known.
    ``*_without_yes_no`` are over the ``n_without_yes_no`` scored rows whose gold answer is neither yes nor
    no. ``forced_by_gate_rate`` is the part of ``forced_rate`` in which the gate took the last turn.
    ``null_*`` are the shares of scored answers for which a rule had no entity to look for.
    ``cost_reserved_usd`` is set aside for attempts of unknown cost, of agents and judges alike.
    """

    dataset: str
    condition: str
    n_expected: int
    n_scored: int
    n_unjudged: int
    n_failed: int
    n_missing: int
    n_known_gold: int
    n_without_yes_no: int
    llm_acc: float | None
    contain_acc: float | None
    contain_token: float | None
    contain_acc_without_yes_no: float | None
    contain_token_without_yes_no: float | None
    abstain_rate: float | None
    declined_rate: float | None
    forced_rate: float | None
    forced_by_gate_rate: float | None
    zero_read_rate: float | None
    zero_read_forced: float | None
    zero_read_exhausted: float | None
    zero_read_no_search: float | None
    zero_read_voluntary: float | None
    no_search_rate: float | None
    p_disc: float | None
    p_no_read: float | None
    p_snippet_only: float | None
    p_low_evidence: float | None
    p_post: float | None
    p_retr: float | None
    p_amb: float | None
    p_unknown: float | None
    p_post_known: float | None
    p_retr_known: float | None
    p_amb_known: float | None
    ind_disc: float | None
    ind_post: float | None
    ind_retr: float | None
    ind_amb: float | None
    ind_post_partial: float | None
    ind_post_all: float | None
    null_snippet_only: float | None
    null_low_evidence: float | None
    gold_shown_any: float | None
    gold_shown_all: float | None
    gold_read_any: float | None
    gold_read_all: float | None
    fired_rate: float | None
    mean_reads: float | None
    mean_turns: float | None
    mean_corrections: float | None
    mean_retrieved_tokens: float | None
    mean_seconds: float | None
    cost_usd: float
    cost_reserved_usd: float
    judge_cost_usd: float


def cell_rows(frame: Frame) -> tuple[CellRow, ...]:
    """One row for every cell that the experiment expects, in its order."""
    return tuple(_cell_row(frame, cell) for cell in frame.expected)


def _cell_row(frame: Frame, cell: Cell) -> CellRow:
    everything = frame.of(cell)
    rows = everything[everything["state"] == State.SCORED]
    unjudged, failed = (int((everything["state"] == state).sum()) for state in (State.UNJUDGED, State.FAILED))
    costs = frame.costs.get(cell, NOTHING_BILLED)
    known = rows["known_gold"]
    answered = rows[rows["kind"] != ABSTAINED]
    named = rows[~rows["yes_no"]]
    return CellRow(
        dataset=cell.dataset,
        condition=cell.condition,
        n_expected=frame.expected[cell],
        n_scored=len(rows),
        n_unjudged=unjudged,
        n_failed=failed,
        n_missing=frame.expected[cell] - len(everything),
        n_known_gold=int(known.sum()),
        n_without_yes_no=len(named),
        contain_acc=share(rows["contain_substring"]),
        contain_token=share(rows["contain_token"]),
        contain_acc_without_yes_no=share(named["contain_substring"]),
        contain_token_without_yes_no=share(named["contain_token"]),
        declined_rate=share(rows["declined"]),
        forced_rate=share(rows["forced"]),
        forced_by_gate_rate=share(rows["forced_by_gate"]),
        no_search_rate=share(rows["searches"] == 0),
        fired_rate=share(rows["read_fired"]),
        **_zero_reads(rows),
        **_labels(rows),
        **{name: share(rows[name]) for name in ("ind_disc", "ind_post", "ind_retr", "ind_amb")},
        ind_post_partial=share(rows["post_partial"]),
        ind_post_all=share(rows["post_all"]),
        null_snippet_only=share(answered["no_snippet_rule"]),
        null_low_evidence=share(answered["no_evidence_rule"]),
        **{
            name: share(rows[known][name])
            for name in ("gold_shown_any", "gold_shown_all", "gold_read_any", "gold_read_all")
        },
        **{
            f"mean_{name}": mean(rows[name])
            for name in ("reads", "turns", "corrections", "retrieved_tokens", "seconds")
        },
        cost_usd=costs.agent,
        cost_reserved_usd=costs.reserved,
        judge_cost_usd=costs.judge,
    )


def _labels(rows: Rows) -> Mapping[str, float | None]:
    is_of = {name: rows["kind"] == code for code, name in enumerate(CLASSES)}
    known = rows["known_gold"]
    discipline = is_of["no_read"] | is_of["snippet_only"] | is_of["low_evidence"]
    return {
        "llm_acc": share(is_of["correct"]),
        "abstain_rate": share(is_of["abstained"]),
        "p_disc": share(discipline),
        "p_no_read": share(is_of["no_read"]),
        "p_snippet_only": share(is_of["snippet_only"]),
        "p_low_evidence": share(is_of["low_evidence"]),
        "p_post": share(is_of["post"]),
        "p_retr": share(is_of["retrieval"]),
        "p_amb": share(is_of["ambiguous"]),
        "p_unknown": share(is_of["unknown"]),
        "p_post_known": share(is_of["post"][known]),
        "p_retr_known": share(is_of["retrieval"][known]),
        "p_amb_known": share(is_of["ambiguous"][known]),
    }


def _zero_reads(rows: Rows) -> Mapping[str, float | None]:
    """The rate and its four parts; a row counts in the first part that fits it."""
    left = rows["reads"] == 0
    shares = {"zero_read_rate": share(left)}
    fits = {"forced": rows["forced"], "exhausted": rows["exhausted"], "no_search": rows["searches"] == 0}
    for name, mask in fits.items():
        shares[f"zero_read_{name}"] = share(left & mask)
        left = left & ~mask
    return {**shares, "zero_read_voluntary": share(left)}


def share(mask: Mask) -> float | None:
    """The fraction that is true; None of nothing."""
    return int(mask.sum()) / len(mask) if len(mask) else None


def mean(values: npt.NDArray[np.float64]) -> float | None:
    """The arithmetic mean; None of nothing."""
    return math.fsum(values.tolist()) / len(values) if len(values) else None
