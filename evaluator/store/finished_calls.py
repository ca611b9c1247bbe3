"""Finds the lines of calls in the journal of a run, so that calls made before need not be made again.

What is kept in memory is where the lines stand, not the lines: they are read when they are asked for.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import orjson
from pydantic import ValidationError

from evaluator.core.cell import CallTag
from evaluator.core.errors import RunFolderError
from evaluator.core.journal import CALL_LINES, Returned, Sent
from evaluator.store.append_log import read_places

NUMBERS_A_PLACE = 4
"""Turn, file, offset and length."""


class JournalIndex:
    """Where the lines of chosen calls stand; satisfies ``FinishedCalls``.

    An agent's calls are found by trajectory, a judge's by what it was asked: equal answers share a
    verdict, and which trajectory it was asked for is chance.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        wanted: Callable[[str, str], bool],
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Go through a journal once.

        Args:
            paths: Its files, in order.
            wanted: Whether calls of a purpose and a trajectory will be asked for.
            names: What a trajectory is called in the journal, where that is not its id.

        Raises:
            RunFolderError: A file cannot be read, or holds a line that is no call.
        """
        self._paths = tuple(paths)
        self._names = names
        self._places: dict[str, array[int]] = {}
        for number, path in enumerate(self._paths):
            for offset, line in read_places(path):
                try:
                    self._note(line, number, offset, wanted)
                except (orjson.JSONDecodeError, KeyError, TypeError, OverflowError) as error:
                    raise RunFolderError(f"{path}, at byte {offset}: expected a call") from error

    def lines(self, tag: CallTag, body: bytes) -> Sequence[Sent | Returned]:
        """The lines of all attempts at one call in their order, also at an agent's with another body."""
        if not self._places:
            return ()
        key = self._name(tag.trajectory_id)
        if tag.purpose == "judge":
            key = _judge_key(tag.judge, hashlib.sha256(body).hexdigest())
        return [self._read(*place) for turn, *place in self._places_of(key) if turn == tag.turn]

    def all_lines(self, trajectory_id: str) -> Iterator[Sent | Returned]:
        """Every line of an agent's trajectory."""
        return (self._read(*place) for _, *place in self._places_of(self._name(trajectory_id)))

    def _note(self, line: bytes, number: int, offset: int, wanted: Callable[[str, str], bool]) -> None:
        tree = orjson.loads(line)
        purpose, trajectory_id, turn = tree["purpose"], tree["trajectory_id"], tree["turn"]
        if not wanted(purpose, trajectory_id):
            return
        key = _judge_key(tree["judge"], tree["request_sha256"]) if purpose == "judge" else trajectory_id
        self._places.setdefault(key, array("q")).extend((turn, number, offset, len(line)))

    def _name(self, trajectory_id: str) -> str:
        return self._names.get(trajectory_id, trajectory_id)

    def _places_of(self, key: str) -> Iterator[tuple[int, ...]]:
        numbers = iter(self._places.get(key, ()))
        return zip(*[numbers] * NUMBERS_A_PLACE, strict=True)

    def _read(self, number: int, offset: int, length: int) -> Sent | Returned:
        path = self._paths[number]
        try:
            with path.open("rb") as file:
                file.seek(offset)
                return CALL_LINES.validate_json(file.read(length))
        except OSError as error:
            raise RunFolderError(f"cannot read {path}: {error.strerror}") from error
        except ValidationError as error:
            raise RunFolderError(f"{path}, at byte {offset}: expected a call") from error


def _judge_key(judge: str, request_sha256: str) -> str:
    return f"{request_sha256} {judge}"
