"""An experiment as the text of a TOML file that reads back as the same experiment.

A run folder keeps its resolved experiment in this form, command-line overrides included, so that the
file alone can resume the run. Settings that are None are left out: that is what absent means.
"""

import re
from collections.abc import Iterator, Mapping

import orjson

from evaluator.core.settings import Experiment

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def experiment_text(experiment: Experiment) -> str:
    """The TOML text of an experiment."""
    return "\n".join(_lines(experiment.model_dump(mode="json"))) + "\n"


def _lines(tree: Mapping[str, object]) -> Iterator[str]:
    tables = {key: value for key, value in tree.items() if isinstance(value, Mapping) or _is_tables(value)}
    yield from _assignments({key: value for key, value in tree.items() if key not in tables})
    for key, value in tables.items():
        if isinstance(value, list):
            for table in value:
                yield from ("", f"[[{_key(key)}]]", *_assignments(table))
        elif isinstance(value, Mapping) and all(isinstance(inner, Mapping) for inner in value.values()):
            for name, table in value.items():
                yield from ("", f"[{_key(key)}.{_key(name)}]", *_assignments(table))
        elif isinstance(value, Mapping):
            yield from ("", f"[{_key(key)}]", *_assignments(value))


def _assignments(table: Mapping[str, object]) -> Iterator[str]:
    return (f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _quoted(key)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_assignments(value))} }}"
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    return "true" if value is True else "false" if value is False else repr(value)


def _quoted(text: str) -> str:
    # TOML's basic strings are JSON's, save that DEL must be escaped.
    return orjson.dumps(text).decode().replace("\x7f", r"\u007f")
