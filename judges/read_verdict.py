"""A verdict read from a judge's reply, strictly: what is not clearly one of two words is none.

Clear is a reply that consists of the word, of the word behind a label ("Verdict: correct"), or of a
JSON object with one such label, whatever its case, quotes and markdown. A word among other words is
not: "not correct" and "correct, unless" both hold it.
"""

import json
import re
from typing import Literal, TypeAlias

from evaluator.core.errors import UnclearVerdictError

Clear: TypeAlias = Literal["correct", "incorrect"]

LONGEST_BARE_REPLY = 100
LABELS = frozenset({"verdict", "judgement", "judgment", "grade", "label"})

_MARKS = r"""[\s*_~`"'“”‘’#>()\[\]]*"""
_LABEL = rf"(?:the |my )?(?:final )?(?:{'|'.join(sorted(LABELS))}|answer|prediction)"
_BARE = re.compile(
    rf"{_MARKS}(?:{_LABEL}{_MARKS}(?::|=|is\b){_MARKS})?(?P<word>correct|incorrect){_MARKS}[.!]?{_MARKS}",
    re.IGNORECASE,
)
_FENCED = re.compile(r"\s*```(?:json)?\s*(?P<inside>.*?)\s*```\s*", re.DOTALL | re.IGNORECASE)


def read_verdict(text: str) -> Clear:
    """The verdict that a reply holds.

    Raises:
        UnclearVerdictError: The reply holds none, or more than one.
    """
    fenced = _FENCED.fullmatch(text)
    inside = fenced["inside"] if fenced else text.strip()
    if inside.startswith("{"):
        inside = _labelled(inside)
    bare = _BARE.fullmatch(inside) if len(inside) <= LONGEST_BARE_REPLY else None
    if bare is None:
        raise UnclearVerdictError(f"no clear verdict in the reply {_shortened(text)!r}")
    return "correct" if bare["word"].lower() == "correct" else "incorrect"


def _labelled(text: str) -> str:
    """The one value under a label in a JSON object; "" when this is no such object."""
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return ""
    values = [value for key, value in pairs if key.strip().lower() in LABELS]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else ""


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_BARE_REPLY else f"{text[:LONGEST_BARE_REPLY]}…"
