"""Files of JSON read as typed records; whatever is wrong with one is said with its place.

Foreign exceptions of reading (of the disk, the encoding, JSON, the record's shape) become
``DatasetError`` here and nowhere else.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from index_builder.errors import DatasetError

T = TypeVar("T")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
INPUT = "Input should be "
SHOULD = re.compile(r"^(\w+) should ")


class FileRecord(BaseModel):
    """A record of a file: its types are exact, and fields it does not name are passed over."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


def read_whole(path: Path, shape: TypeAdapter[T], form: str, notes: Counter[str]) -> T:
    """Read a file that is one JSON value.

    Args:
        path: The file.
        shape: What it should hold.
        form: The same in English, for errors: "a JSON array of HotpotQA records".
        notes: Where repairs are counted.

    Raises:
        DatasetError: With the place and what was expected there.
    """
    with _opened(path) as file:
        data = file.read().removeprefix(BYTE_ORDER_MARK)
    if not data.strip():
        raise DatasetError(path, "file", f"{form}, but the file is empty")
    return _parsed(path, data, shape, form, None, notes)


def read_pairs(
    path: Path,
    shape: TypeAdapter[dict[str, T]],
    pairs: TypeAdapter[list[tuple[str, T]]],
    form: str,
    notes: Counter[str],
) -> list[tuple[str, T]]:
    """Read a file that is one JSON object, the values of repeated keys included.

    Args and errors as ``read_whole``; ``pairs`` is the shape as a list, values are no objects.
    """
    by_key = read_whole(path, shape, form, notes)
    listed = json.loads(path.read_bytes().removeprefix(BYTE_ORDER_MARK), object_pairs_hook=list)
    if len(listed) == len(by_key):
        return list(by_key.items())
    return _parsed(path, json.dumps(listed).encode(), pairs, form, None, Counter())


def read_lines(path: Path, shape: TypeAdapter[T], form: str, notes: Counter[str]) -> Iterator[T]:
    """Read a file of one JSON value a line, line by line; blank lines hold nothing.

    Args and errors as ``read_whole``; ``form`` is that of a line. Errors come while iterating.
    """
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            data = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if data.strip():
                yield _parsed(path, data, shape, form, number, notes)


def first_line(path: Path) -> bytes:
    """The first line that is not blank, without surrounding space; empty when there is none."""
    with _opened(path) as file:
        lines = (line.removeprefix(BYTE_ORDER_MARK).strip() for line in file)
        return next(filter(None, lines), b"")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetError(path, "file", f"a file that can be read ({reason})") from error


def _parsed(
    path: Path, data: bytes, shape: TypeAdapter[T], form: str, line: int | None, notes: Counter[str]
) -> T:
    try:
        return shape.validate_json(data)
    except ValidationError as error:
        mended = _without_lone_surrogates(_decoded(path, data, line))
        if mended is None:
            raise _dataset_error(path, error, form, line) from error
    notes["texts with lone surrogates, replaced by U+FFFD"] += 1
    try:
        return shape.validate_json(mended)
    except ValidationError as error:
        raise _dataset_error(path, error, form, line) from error


def _decoded(path: Path, data: bytes, line: int | None) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        place = line or data.count(b"\n", 0, error.start) + 1
        raise DatasetError(path, f"line {place}", f"UTF-8 text ({error.reason})") from error


def _without_lone_surrogates(text: str) -> str | None:
    """The same JSON with U+FFFD for escapes that encode half a character; None where there is none."""
    if not SURROGATE_ESCAPE.search(text):
        return None
    try:
        written = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    mended, count = LONE_SURROGATE.subn("\ufffd", written)
    return mended if count else None


def _dataset_error(path: Path, error: ValidationError, form: str, line: int | None) -> DatasetError:
    problem = error.errors(include_url=False, include_input=False)[0]
    kind, location, message = problem["type"], problem["loc"], problem["msg"]
    place = f"line {line}" if line is not None else "file"
    if kind == "json_invalid":
        reason, _, found = message.removeprefix("Invalid JSON: ").rpartition(" at line ")
        row, _, column = found.partition(" column ")
        return DatasetError(path, f"line {line or row}, column {column}", f"{form} ({reason})")
    if not location:
        return DatasetError(path, place, form)
    if line is None:
        place, location = _entry(location[0]), location[1:]
    if kind == "missing":
        location, expected = location[:-1], _absent(location)
    else:
        message = message.removeprefix(INPUT).removeprefix("Value error, ")
        expected = SHOULD.sub(lambda found: f"a {found[1].lower()} that should ", message)
    field = f", {'.'.join(map(str, location))}" if location else ""
    return DatasetError(path, f"{place}{field}", f"{expected} in {form}")


def _entry(key: int | str) -> str:
    return f"record {key + 1}" if isinstance(key, int) else f"entry {key!r}"


def _absent(location: tuple[int | str, ...]) -> str:
    return f"a field {location[-1]!r}" if isinstance(location[-1], str) else "one more item"
