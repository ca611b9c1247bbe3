"""The ``pairs`` table: two conditions compared question by question.

One row a dataset and one, ``pooled``, in which every dataset weighs the same. ``PairRow``
says what each figure estimates.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluator.core.cell import Cell
from evaluator.core.settings import PairSettings
from reports.frame import Frame
from reports.measures import CORRECT, State
from reports.statistics.bootstrap import pooled_interval, seed_for
from reports.statistics.holm import holm
from reports.statistics.intervals import paired_score_interval
from reports.statistics.mcnemar import detectable, exact_p, mid_p

POOLED = "pooled"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One comparison on one dataset, or pooled over all.

    ``n_expected = n + n_not_selected + n_unjudged + n_failed + n_missing``: a question is lost for the
    gravest reason among the arms it needs. ``delta`` is the risk difference, treatment minus baseline;
    its interval is Tango's score interval on a dataset and a bootstrap within datasets when pooled.
    ``gained_new_text`` counts gains whose gold answer stood in text that the treatment read or was given
    and the baseline had not read, and in no snippet. ``detectable`` is the smallest difference that this
    many questions detect with 80 % power. A row that Holm's correction leaves out has null
    ``family_size`` and ``mcnemar_p_holm``; one selected on its own arm has no p-value at all.
    """

    dataset: str
    baseline: str
    treatment: str
    family: str
    family_size: int | None
    select_on: str
    self_selected: bool
    n: int
    n_expected: int
    n_not_selected: int
    n_unjudged: int
    n_failed: int
    n_missing: int
    acc_baseline: float | None
    acc_treatment: float | None
    delta: float | None
    ci_low: float | None
    ci_high: float | None
    gained: int
    lost: int
    gained_new_text: int
    detectable: float | None
    mcnemar_p: float | None
    mcnemar_mid_p: float | None
    mcnemar_p_holm: float | None


def pair_rows(frame: Frame) -> tuple[PairRow, ...]:
    """The rows of every declared pair, dataset by dataset and then pooled, corrected by family."""
    rows: list[PairRow] = []
    for pair in frame.experiment.pair:
        on_datasets = [_dataset_row(frame, pair, dataset) for dataset in frame.datasets]
        rows += [*on_datasets, _pooled_row(frame, pair, on_datasets)]
    return tuple(_corrected(frame, rows))


def _dataset_row(frame: Frame, pair: PairSettings, dataset: str) -> PairRow:
    arms = _Arms(frame, pair, dataset)
    both = arms.state == State.SCORED
    used = both & arms.selected
    n = int(used.sum())
    gained = used & arms.treatment.correct & ~arms.baseline.correct
    lost = used & arms.baseline.correct & ~arms.treatment.correct
    new_text = arms.treatment.full_text & ~arms.baseline.full_text & ~arms.treatment.in_snippet
    counts = int(gained.sum()), int(lost.sum())
    interval = paired_score_interval(*counts, n) if n else None
    self_selected = pair.select_on in {pair.baseline, pair.treatment}
    tested = n > 0 and not self_selected
    return PairRow(
        dataset=dataset,
        baseline=pair.baseline,
        treatment=pair.treatment,
        family=pair.family,
        family_size=None,
        select_on=pair.select_on,
        self_selected=self_selected,
        n=n,
        n_not_selected=int((both & ~arms.selected).sum()),
        **arms.account(),
        acc_baseline=_mean(arms.baseline.correct, used),
        acc_treatment=_mean(arms.treatment.correct, used),
        delta=(counts[0] - counts[1]) / n if n else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        gained=counts[0],
        lost=counts[1],
        gained_new_text=int((gained & new_text).sum()),
        detectable=detectable(sum(counts), n) if n else None,
        mcnemar_p=exact_p(*counts) if tested else None,
        mcnemar_mid_p=mid_p(*counts) if tested else None,
        mcnemar_p_holm=None,
    )


def _pooled_row(frame: Frame, pair: PairSettings, rows: Sequence[PairRow]) -> PairRow:
    """Datasets with no question to compare take no part in the means."""
    counted = [row for row in rows if row.n]
    gained, lost = sum(row.gained for row in rows), sum(row.lost for row in rows)
    seed = seed_for(frame.experiment.seed, pair.baseline, pair.treatment, pair.select_on)
    interval = pooled_interval([(row.gained, row.lost, row.n) for row in counted], seed) if counted else None
    tested = bool(counted) and not rows[0].self_selected
    return replace(
        rows[0],
        dataset=POOLED,
        **{name: sum(getattr(row, name) for row in rows) for name in SUMMED},
        acc_baseline=_equal_weights(counted, "acc_baseline"),
        acc_treatment=_equal_weights(counted, "acc_treatment"),
        delta=_equal_weights(counted, "delta"),
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        detectable=None,
        mcnemar_p=exact_p(gained, lost) if tested else None,
        mcnemar_mid_p=mid_p(gained, lost) if tested else None,
    )


SUMMED = (
    "n",
    "n_expected",
    "n_not_selected",
    "n_unjudged",
    "n_failed",
    "n_missing",
    "gained",
    "lost",
    "gained_new_text",
)


def _equal_weights(rows: Sequence[PairRow], name: str) -> float | None:
    return sum(getattr(row, name) for row in rows) / len(rows) if rows else None


def _corrected(frame: Frame, rows: Sequence[PairRow]) -> list[PairRow]:
    """Holm within each family, over its dataset rows that are neither selected nor of unlike repeats."""
    families: dict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        repeats = {frame.condition(row.baseline).repeat, frame.condition(row.treatment).repeat}
        if row.dataset != POOLED and not row.select_on and len(repeats) == 1:
            families[row.family].append(index)
    corrected = list(rows)
    for members in families.values():
        adjusted = holm([rows[index].mcnemar_p for index in members])
        for index, p in zip(members, adjusted, strict=True):
            corrected[index] = replace(rows[index], family_size=len(members), mcnemar_p_holm=p)
    return corrected


@dataclass(frozen=True, slots=True)
class _Arm:
    """One condition on one dataset, indexed by the questions of that dataset; masks hold where scored."""

    state: npt.NDArray[np.int32]
    correct: Mask
    unread: Mask
    full_text: Mask
    in_snippet: Mask


class _Arms:
    """The arms that a pair needs, lined up by question."""

    def __init__(self, frame: Frame, pair: PairSettings, dataset: str) -> None:
        self.baseline = _arm(frame, Cell(dataset, pair.baseline))
        self.treatment = _arm(frame, Cell(dataset, pair.treatment))
        arms = [self.baseline, self.treatment]
        self.selected: Mask = np.ones_like(self.baseline.correct)
        if pair.select_on:
            selecting = _arm(frame, Cell(dataset, pair.select_on))
            self.selected = selecting.unread
            arms.append(selecting)
        self.state = np.max([arm.state for arm in arms], axis=0)
        names = {pair.baseline, pair.treatment, pair.select_on} - {""}
        self._expected = max(frame.expected.get(Cell(dataset, name), 0) for name in names)

    def account(self) -> dict[str, int]:
        """Why questions that were expected are not compared."""
        counts = {state: int((self.state == state).sum()) for state in State}
        return {
            "n_expected": self._expected,
            "n_unjudged": counts[State.UNJUDGED],
            "n_failed": counts[State.FAILED],
            "n_missing": self._expected
            - counts[State.SCORED]
            - counts[State.UNJUDGED]
            - counts[State.FAILED],
        }


def _arm(frame: Frame, cell: Cell) -> _Arm:
    of_dataset = frame.rows["dataset"] == frame.datasets.index(cell.dataset)
    n_questions = int(frame.rows["question"][of_dataset].max(initial=-1)) + 1
    rows = frame.of(cell)
    state = np.full(n_questions, State.MISSING, dtype=np.int32)
    state[rows["question"]] = rows["state"]

    def spread(values: Mask) -> Mask:
        mask = np.zeros(n_questions, dtype=np.bool_)
        mask[rows["question"]] = values
        return mask

    return _Arm(
        state=state,
        correct=spread(rows["kind"] == CORRECT),
        unread=spread((rows["searches"] > 0) & (rows["reads"] == 0)),
        full_text=spread(rows["in_read"] | rows["in_injected"]),
        in_snippet=spread(rows["in_snippet"]),
    )


def _mean(correct: Mask, used: Mask) -> float | None:
    n = int(used.sum())
    return int((correct & used).sum()) / n if n else None
