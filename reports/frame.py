"""A run folder as columns of numbers: everything the tables are computed from.

The folder is streamed; of each trajectory one row is kept. Rows stand in the order of dataset,
condition and question id, so that neither the order of lines nor their split over files shows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

import numpy as np
import numpy.typing as npt

from evaluator.core.cell import Cell
from evaluator.core.errors import RunFolderError
from evaluator.core.journal import JudgeIdentity
from evaluator.core.ports import EntityExtractor
from evaluator.core.settings import ConditionSettings, Experiment
from evaluator.store.run_folder import RunFolder
from reports.answer_places import AnswerFinder, Reach
from reports.costs import Costs, costs_by_cell
from reports.current_verdicts import current_verdicts
from reports.measures import Row, measure

STORED_AS = {bool: np.bool_, int: np.int32, float: np.float64}
DTYPE = np.dtype([(name, STORED_AS[kind]) for name, kind in get_type_hints(Row).items()])

Rows = npt.NDArray[np.void]
"""A structured array with one field for each of ``Row``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A run in numbers.

    Attributes:
        path: The run folder.
        experiment: Its resolved settings.
        judge: The primary judge; None when the experiment names none.
        expected: Trajectories of the full experiment by cell, in the experiment's order.
        rows: One per trajectory that has a line; ``dataset`` and ``condition`` are positions in
            ``datasets`` and ``conditions``, ``question`` numbers the questions of a dataset from 0.
        costs: By cell; cells without a call are absent.
        reach: Of snippets, over the whole run.
    """

    path: Path
    experiment: Experiment
    judge: JudgeIdentity | None
    expected: Mapping[Cell, int]
    rows: Rows
    costs: Mapping[Cell, Costs]
    reach: Reach

    @property
    def datasets(self) -> tuple[str, ...]:
        """In the experiment's order."""
        return tuple(dict.fromkeys(cell.dataset for cell in self.expected))

    @property
    def conditions(self) -> tuple[str, ...]:
        """In the experiment's order."""
        return tuple(dict.fromkeys(cell.condition for cell in self.expected))

    def of(self, cell: Cell) -> Rows:
        """The rows of one cell."""
        in_dataset = self.rows["dataset"] == self.datasets.index(cell.dataset)
        in_condition = self.rows["condition"] == self.conditions.index(cell.condition)
        rows: Rows = self.rows[in_dataset & in_condition]
        return rows

    def condition(self, name: str) -> ConditionSettings:
        """The settings of a condition."""
        return next(condition for condition in self.experiment.condition if condition.name == name)


def read_frame(run: RunFolder, extract: EntityExtractor) -> Frame:
    """Stream a run folder into a frame.

    Args:
        run: An open run folder; its files are only read.
        extract: Finds the entities by which failures are labelled.

    Raises:
        RunFolderError: A line that cannot be read, of a cell that the manifest does not expect, or more
            trajectories of a cell than it expects.
    """
    expected = {Cell(row.dataset, row.condition): row.n for row in run.manifest.expected}
    verdicts = current_verdicts(run.verdicts(), run.experiment)
    finder = AnswerFinder()
    codes = _Codes(run.path, expected)
    kept: list[tuple[str, Row]] = []
    for trajectory in run.trajectories():
        row = measure(trajectory, verdicts, finder, extract)
        kept.append((trajectory.question_id, codes.give(row, trajectory.cell, trajectory.question_id)))
    kept.sort(key=lambda item: (item[1].dataset, item[1].condition, item[0]))
    return Frame(
        path=run.path,
        experiment=run.experiment,
        judge=verdicts.judge,
        expected=expected,
        rows=np.array([tuple(row) for _, row in kept], dtype=DTYPE),
        costs=costs_by_cell(run.calls()),
        reach=finder.reach(),
    )


class _Codes:
    """Numbers for datasets, conditions and questions; refuses rows that the manifest has no place for."""

    def __init__(self, path: Path, expected: Mapping[Cell, int]) -> None:
        self._path = path
        self._expected = expected
        self._datasets = _positions(cell.dataset for cell in expected)
        self._conditions = _positions(cell.condition for cell in expected)
        self._questions: dict[str, dict[str, int]] = {dataset: {} for dataset in self._datasets}
        self._seen: dict[Cell, set[int]] = {cell: set() for cell in expected}

    def give(self, row: Row, cell: Cell, question_id: str) -> Row:
        """The row with its codes set."""
        seen = self._seen.get(cell)
        if seen is None:
            raise RunFolderError(
                f"{self._path} holds trajectories of {cell.dataset} under {cell.condition}, which its "
                "manifest does not name"
            )
        questions = self._questions[cell.dataset]
        question = questions.setdefault(question_id, len(questions))
        if question in seen or len(seen) == self._expected[cell]:
            raise RunFolderError(
                f"{self._path} holds more trajectories of {cell.dataset} under {cell.condition} than the "
                f"{self._expected[cell]} its manifest expects, question {question_id!r} among them"
            )
        seen.add(question)
        return row._replace(
            dataset=self._datasets[cell.dataset],
            condition=self._conditions[cell.condition],
            question=question,
        )


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: position for position, name in enumerate(dict.fromkeys(names))}
