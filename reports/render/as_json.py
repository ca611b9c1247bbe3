"""A report as JSON, for programs: the field names are a contract, figures are unrounded.

The object is ``reports.report.Report`` field by field: ``evidence``, ``banner``, ``run``,
``decisive_fact``, ``to_do``, and the tables ``cells``, ``pairs`` and ``funnel`` as lists of rows.
Undefined figures are null. Nothing here is not a number: orjson would hide one as null, so a report
that holds any is refused.
"""

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import orjson

from reports.report import Report


def render_json(report: Report) -> str:
    """The report object as indented JSON, its fields in the order of the records.

    Args:
        report: As built; filters have been applied.

    Raises:
        ValueError: A figure is infinite or not a number, which no part of a report may be.
    """
    for where, value in _floats("report", report):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}")
    return orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _floats(where: str, value: object) -> Iterator[tuple[str, float]]:
    """Every float of a tree of records, and where it stands."""
    if isinstance(value, float):
        yield where, value
    elif isinstance(value, tuple):
        for position, part in enumerate(value):
            yield from _floats(f"{where}[{position}]", part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _floats(f"{where}.{field.name}", getattr(value, field.name))
