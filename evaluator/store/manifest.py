"""``manifest.json``: what a run folder is of, written atomically at the start and at every stop.

Two manifests are of one experiment when nothing differs that could change a result; rates, budget,
deadlines and addresses may differ between a run and its resumption, and judges may be added after those
that it has: verdicts of theirs stand beside the others.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from evaluator.core.errors import RunFolderError

MANIFEST = "manifest.json"

MAY_CHANGE = ("rate", "budget")
MAY_CHANGE_IN_LIMITS = (("limits", "call_seconds"), ("limits", "trajectory_seconds"))
MAY_CHANGE_IN_MODELS = ("base_url", "api_key_env")
MAY_CHANGE_IN_FACTS = ("aliases", "dated_snapshots", "shutdown")
"""Of the models of the world, not of what they are asked: what a run learns when a model has a new name."""


@dataclass(frozen=True, slots=True)
class ExpectedCell:
    """How many trajectories the full experiment has in one cell."""

    dataset: str
    condition: str
    n: int


@dataclass(frozen=True, slots=True)
class ModelsSeen:
    """The model id a controller or judge asked for, and the ids that answered."""

    requested: str
    returned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReplayOf:
    """The run that another one replays: where it was, and its first start, which is its identity."""

    path: str
    started_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All of a run but its lines.

    Attributes:
        code_version: Of this project.
        expected: One row a cell, of the full experiment whatever ``--limit`` says.
        settings: The resolved experiment, command-line overrides included.
        bundle_hashes: By dataset.
        wording_sha256: Of every text the environment can send to a model.
        prices: USD per million tokens by model, as used.
        models: By controller and by judge (``judge.<name>``).
        deviations: What of the protocol a model does not take, named as in ``models``.
        started_at: Of the first start, RFC 3339 in UTC.
        ended_at: Of the last stop; None while running or after a kill.
        replay_of: The run it was replayed from; None when its models were asked.
    """

    code_version: str
    expected: tuple[ExpectedCell, ...]
    settings: Mapping[str, object]
    bundle_hashes: Mapping[str, str]
    wording_sha256: str
    prices: Mapping[str, Mapping[str, float]]
    models: Mapping[str, ModelsSeen]
    deviations: Mapping[str, Mapping[str, str]]
    started_at: str
    ended_at: str | None
    replay_of: ReplayOf | None = None


MANIFESTS: TypeAdapter[Manifest] = TypeAdapter(Manifest)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder; RunFolderError when it has none that can be read."""
    path = folder / MANIFEST
    try:
        return MANIFESTS.validate_json(path.read_bytes())
    except FileNotFoundError as error:
        what = "is not a run folder: it has no manifest.json" if folder.is_dir() else "does not exist"
        raise RunFolderError(f"{folder} {what}") from error
    except OSError as error:
        raise RunFolderError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise RunFolderError(f"{path} is not a manifest of this version of readgate") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step: after a kill the old one or the new one stands there whole."""
    write_atomically(folder / MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside, sync, rename, sync the folder; RunFolderError when the disk refuses."""
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise RunFolderError(f"cannot write {path}: {error.strerror}") from error


def require_same_experiment(folder: Path, before: Manifest, now: Manifest) -> None:
    """RunFolderError naming the first key that differs and may not."""
    judges = _judges(before)
    old, new = dict(_identity(before, judges)), dict(_identity(now, judges))
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            msg = (
                f"{folder} belongs to another experiment: {key} is {_shown(old, key)} there and "
                f"{_shown(new, key)} here; give another --out, or undo the change"
            )
            raise RunFolderError(msg)


def merged_models(before: Mapping[str, ModelsSeen], now: Mapping[str, ModelsSeen]) -> dict[str, ModelsSeen]:
    """The models of both, with every id that ever answered, the earlier ones first."""
    merged = dict(before)
    for name, seen in now.items():
        earlier = before[name].returned if name in before else ()
        merged[name] = replace(seen, returned=tuple(dict.fromkeys((*earlier, *seen.returned))))
    return merged


def _shown(tree: Mapping[str, object], key: str) -> str:
    return orjson.dumps(tree[key]).decode() if key in tree else "absent"


def _judges(manifest: Manifest) -> list[str]:
    """The names of the judges, the primary one first."""
    judges = manifest.settings.get("judge")
    return list(judges) if isinstance(judges, Mapping) else []


def _identity(manifest: Manifest, judges: list[str]) -> Iterator[tuple[str, object]]:
    """Dotted key and value of everything that may not change, of the given judges only."""
    for path, value in _leaves((), manifest.settings):
        if not (_may_change(path) or (path[0] == "judge" and path[1] not in judges)):
            yield ".".join(path), value
    yield "the order of the judges", _judges(manifest)[: len(judges)]
    for dataset, bundle_hash in manifest.bundle_hashes.items():
        yield f"the bundle hash of {dataset}", bundle_hash
    yield "the wording of the protocol", manifest.wording_sha256
    if manifest.replay_of is not None:
        yield "the start of the run it replays", manifest.replay_of.started_at


def _leaves(path: tuple[str, ...], tree: object) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value of a settings tree; tables in a list go by their name, other items by position."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _leaves((*path, str(key)), value)
    elif isinstance(tree, list):
        for position, value in enumerate(tree):
            name = value.get("name", position) if isinstance(value, Mapping) else position
            yield from _leaves((*path, str(name)), value)
    else:
        yield path, tree


def _may_change(path: tuple[str, ...]) -> bool:
    if path[0] in {"controller", "judge"}:
        return path[-1] in MAY_CHANGE_IN_MODELS
    if path[0] == "models":
        return path[2] in MAY_CHANGE_IN_FACTS
    return path[0] in MAY_CHANGE or path[:2] in MAY_CHANGE_IN_LIMITS
