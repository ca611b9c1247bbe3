"""A cell of the grid, and the identity of a trajectory in it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import orjson

ID_HEX_DIGITS = 32


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One dataset under one condition."""

    dataset: str
    condition: str


@dataclass(frozen=True, slots=True)
class CallTag:
    """Whom a model call is for; every line of ``calls.jsonl`` bears it.

    Attributes:
        judge: The judge's name, "" for agents.
        turn: The turn of the episode, or the try of the judge, from 1.
    """

    purpose: Literal["agent", "judge"]
    cell: Cell
    trajectory_id: str
    judge: str
    turn: int


def content_hash(tree: object) -> str:
    """The sha256 of key-sorted JSON, in hex: equal for equal settings, whatever their order."""
    return hashlib.sha256(orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)).hexdigest()


def trajectory_id(identity: Mapping[str, object]) -> str:
    """The first 32 hex digits of the content hash of all that makes a trajectory what it is.

    Args:
        identity: dataset, condition, question_id, bundle hash, controller (without base_url and
            api_key_env), gate, protocol, repeat, limits.turns, limits.tokens, seed.
    """
    return content_hash(identity)[:ID_HEX_DIGITS]
