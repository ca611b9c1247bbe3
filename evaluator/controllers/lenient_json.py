"""JSON as servers and models write it: read whatever can be read, write whatever was read.

orjson refuses lone surrogates and deep nesting, writes NaN as null and no integer above 64 bits (and
reads such integers as floats). Here lone surrogates become U+FFFD, and numbers that orjson cannot write
become their text.
"""

import json
import math
from collections.abc import Mapping

import orjson

DEEPEST = 100
"""Levels of nesting that are kept; no reply that means anything is deeper."""

TOO_DEEP = "JSON nested too deeply"

_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


def loads(text: bytes | str) -> object:
    """Parse JSON.

    Raises:
        ValueError: It is not JSON, not even to the lenient reader of the standard library.
    """
    try:
        return loads_strict(text)
    except orjson.JSONDecodeError:
        pass
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    try:
        return writable(json.loads(decoded))
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def loads_strict(text: bytes | str) -> object:
    """Parse what is JSON by the standard, nested no deeper than ``DEEPEST``.

    Raises:
        orjson.JSONDecodeError: It is not JSON.
        ValueError: It is nested too deeply.
    """
    tree: object = orjson.loads(text)
    data = text if isinstance(text, bytes) else text.encode()
    if data.count(b"[") + data.count(b"{") > DEEPEST:
        writable(tree)
    return tree


def dumps(tree: object) -> bytes:
    """Write JSON, with what orjson refuses made writable first."""
    try:
        return orjson.dumps(tree)
    except orjson.JSONEncodeError:
        return orjson.dumps(writable(tree))


def clean(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def writable(value: object, depth: int = 0) -> object:
    """The value with everything replaced that orjson cannot write or would change."""
    if depth > DEEPEST:
        raise ValueError(TOO_DEEP)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if _SMALLEST <= value <= _LARGEST else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else json.dumps(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): writable(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [writable(inner, depth + 1) for inner in value]
    return value
