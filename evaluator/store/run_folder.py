"""A run folder: the files of one experiment, read by every later stage and written by one process.

Readers take every shard (``trajectories.jsonl``, ``trajectories.1.jsonl``, …) and touch nothing. A
writer holds the lock of its files from before its first check until its end.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from evaluator.core.errors import RunFolderError
from evaluator.core.journal import CALL_LINES, TRAJECTORY_LINES, VERDICT_LINES, Returned, Sent, Verdict
from evaluator.core.settings import Experiment, experiment_of, parse_experiment
from evaluator.core.trajectory import Trajectory
from evaluator.store.append_log import AppendLog, read_lines
from evaluator.store.experiment_text import experiment_text
from evaluator.store.finished_calls import JournalIndex
from evaluator.store.manifest import (
    MANIFEST,
    Manifest,
    ModelsSeen,
    merged_models,
    read_manifest,
    require_same_experiment,
    write_atomically,
    write_manifest,
)
from evaluator.store.owed import Finished, winners

EXPERIMENT = "experiment.toml"

FileKind: TypeAlias = Literal["trajectories", "calls", "verdicts"]
Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """An existing run folder.

    Attributes:
        path: The folder.
        manifest: As it stood when the folder was opened.
        experiment: The resolved settings of the run.
    """

    path: Path
    manifest: Manifest
    experiment: Experiment

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The run folder at a path; RunFolderError when it is none."""
        manifest = read_manifest(path)
        return cls(path, manifest, experiment_of(manifest.settings, str(path / MANIFEST)))

    @classmethod
    def open_edited(cls, path: Path) -> "RunFolder":
        """The run folder at a path, with what was changed in its ``experiment.toml`` since it was written.

        Raises:
            RunFolderError: It is none, or what was changed may not change.
            SettingsError: The text is no experiment.
        """
        run = cls.open(path)
        try:
            text = (path / EXPERIMENT).read_text(encoding="utf-8")
        except FileNotFoundError:
            return run
        except (OSError, UnicodeDecodeError) as error:
            raise RunFolderError(f"cannot read {path / EXPERIMENT}: {error}") from error
        experiment = parse_experiment(text, str(path / EXPERIMENT))
        edited = replace(run.manifest, settings=experiment.model_dump(mode="json"))
        require_same_experiment(path, run.manifest, edited)
        return cls(path, edited, experiment)

    def files(self, kind: FileKind) -> list[Path]:
        """All shards of one kind that exist, the unnumbered one first."""
        shards = [path for path in self.path.glob(f"{kind}*.jsonl") if _shard(kind, path) is not None]
        return sorted(shards, key=lambda path: _shard(kind, path) or 0)

    def log(self, kind: FileKind) -> AppendLog:
        """Become the one writer of a kind of line; RunFolderError when there is one already."""
        return AppendLog(self.path / f"{kind}.jsonl")

    def finished(self) -> Iterator[Finished]:
        """What decides whether each trajectory line counts, parsed no further."""
        return (line for _, line in self._finished_lines())

    def trajectories(self) -> Iterator[Trajectory]:
        """The line that counts for each id, in file order."""
        chosen = set(winners(self._finished_lines()).values())
        for path in self.files("trajectories"):
            for number, line in enumerate(read_lines([path]), start=1):
                if (path.name, number) in chosen:
                    yield _record(TRAJECTORY_LINES, line, path, number)

    def calls(self) -> Iterator[Sent | Returned]:
        """Every line of every call journal."""
        return self._records("calls", CALL_LINES)

    def agent_calls(
        self, trajectory_ids: Iterable[str], names: Mapping[str, str] = MappingProxyType({})
    ) -> JournalIndex:
        """The calls made so far for some trajectories; ``names`` as of ``JournalIndex``."""
        wanted = frozenset(trajectory_ids)
        files = self.files("calls") if wanted else []
        return JournalIndex(files, lambda purpose, each: purpose == "agent" and each in wanted, names)

    def judge_calls(self) -> JournalIndex:
        """The calls made so far for verdicts."""
        return JournalIndex(self.files("calls"), lambda purpose, _: purpose == "judge")

    def verdicts(self) -> Iterator[Verdict]:
        """Every verdict line, in the order written: a later one of the same judge and answer counts."""
        return self._records("verdicts", VERDICT_LINES)

    def note_stop(self, ended_at: str, models: Mapping[str, ModelsSeen]) -> None:
        """Write the manifest at a stop; the caller holds one of the folder's logs."""
        seen = merged_models(self.manifest.models, models)
        write_manifest(self.path, replace(self.manifest, ended_at=ended_at, models=seen))

    def _records(self, kind: FileKind, lines: TypeAdapter[Line]) -> Iterator[Line]:
        for path in self.files(kind):
            for number, line in enumerate(read_lines([path]), start=1):
                yield _record(lines, line, path, number)

    def _finished_lines(self) -> Iterator[tuple[tuple[str, int], Finished]]:
        for path in self.files("trajectories"):
            for number, line in enumerate(read_lines([path]), start=1):
                yield (path.name, number), _finished(line, path, number)


@contextmanager
def open_for_run(path: Path, manifest: Manifest) -> Iterator[tuple[RunFolder, AppendLog, AppendLog]]:
    """Create or resume a run folder and hold it: yields it with its call and trajectory logs.

    Raises:
        RunFolderError: It is of another experiment, holds other files, is being written by another
            process, or cannot be written. Nothing has been changed then.
    """
    _require_usable(path, manifest)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"cannot create {path}: {error.strerror}") from error
    with ExitStack() as held:
        calls = held.enter_context(AppendLog(path / "calls.jsonl"))
        trajectories = held.enter_context(AppendLog(path / "trajectories.jsonl"))
        _require_usable(path, manifest)
        experiment = experiment_of(manifest.settings, str(path / MANIFEST))
        write_atomically(path / EXPERIMENT, experiment_text(experiment).encode())
        if (path / MANIFEST).exists():
            manifest = _resumed(read_manifest(path), manifest)
        write_manifest(path, manifest)
        yield RunFolder(path, manifest, experiment), calls, trajectories


def _resumed(before: Manifest, now: Manifest) -> Manifest:
    """The manifest of a resumed run: the first start stays, models seen before are kept."""
    return replace(now, started_at=before.started_at, models=merged_models(before.models, now.models))


def _require_usable(path: Path, manifest: Manifest) -> None:
    if path.exists() and not path.is_dir():
        raise RunFolderError(f"{path} is a file; a run needs a folder")
    if (path / MANIFEST).exists():
        require_same_experiment(path, read_manifest(path), manifest)
        return
    ours = {EXPERIMENT, f"{EXPERIMENT}.new", f"{MANIFEST}.new", "calls.jsonl", "trajectories.jsonl"}
    others = sorted(entry.name for entry in path.iterdir() if entry.name not in ours) if path.exists() else []
    if others:
        msg = f"{path} is not a run folder: it holds {others[0]!r} and no manifest; give another --out"
        raise RunFolderError(msg)


def _shard(kind: str, path: Path) -> int | None:
    """The number of a shard, 0 for the unnumbered one, None for another file."""
    middle = path.name.removeprefix(kind).removesuffix(".jsonl")
    if not middle:
        return 0
    return int(middle[1:]) if middle[0] == "." and middle[1:].isdecimal() else None


def _record(lines: TypeAdapter[Line], line: bytes, path: Path, number: int) -> Line:
    try:
        return lines.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RunFolderError(f"{path}, line {number}: {where or 'the line'}: {first['msg']}") from error


def _finished(line: bytes, path: Path, number: int) -> Finished:
    try:
        tree = orjson.loads(line)
        return Finished(tree["trajectory_id"], tree["outcome"]["kind"], tree["started_at"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise RunFolderError(f"{path}, line {number}: expected a trajectory") from error
