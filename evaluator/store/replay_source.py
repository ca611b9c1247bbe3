"""A run as the source of a replay: which of its trajectories answers for which question of which cell.

A gate that changed gives a trajectory another id, so trajectories are matched by dataset, condition and
question. Of what was run several times the line that counts is taken.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import ValidationError

from evaluator.core.cell import Cell
from evaluator.core.errors import RunFolderError
from evaluator.core.journal import TRAJECTORY_LINES
from evaluator.core.trajectory import Trajectory
from evaluator.store.append_log import read_places
from evaluator.store.owed import FAILED, Finished, winners
from evaluator.store.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Recorded:
    """The line that counts for one trajectory of a run.

    Attributes:
        trajectory_id: What the trajectory is called there.
        failed: Whether it stayed without an outcome that can be scored.
        path: The file of the line.
        offset: The byte it begins at.
    """

    trajectory_id: str
    failed: bool
    path: Path
    offset: int

    def trajectory(self) -> Trajectory:
        """The whole line; RunFolderError when it is no trajectory."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                return TRAJECTORY_LINES.validate_json(file.readline())
        except OSError as error:
            raise RunFolderError(f"cannot read {self.path}: {error.strerror}") from error
        except ValidationError as error:
            raise _no_trajectory(self.path, self.offset) from error


def recorded_trajectories(run: RunFolder) -> Mapping[tuple[Cell, str], Recorded]:
    """The line that counts for each question, by cell and question id.

    Raises:
        RunFolderError: A file cannot be read, or holds a line that is no trajectory.
    """
    questions: dict[str, tuple[Cell, str]] = {}
    recorded: dict[tuple[Path, int], Recorded] = {}

    def lines() -> Iterator[tuple[tuple[Path, int], Finished]]:
        for path in run.files("trajectories"):
            for offset, line in read_places(path):
                try:
                    tree = orjson.loads(line)
                    name, kind = tree["trajectory_id"], tree["outcome"]["kind"]
                    questions[name] = Cell(**tree["cell"]), tree["question_id"]
                    recorded[path, offset] = Recorded(name, kind == FAILED, path, offset)
                    yield (path, offset), Finished(name, kind, tree["started_at"])
                except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                    raise _no_trajectory(path, offset) from error

    return {questions[name]: recorded[place] for name, place in winners(lines()).items()}


def _no_trajectory(path: Path, offset: int) -> RunFolderError:
    return RunFolderError(f"{path}, at byte {offset}: expected a trajectory")
