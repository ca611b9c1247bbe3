"""What a search result shows of a chunk: its beginning, within a budget of characters.

The length of snippets is part of the protocol: an agent that is shown whole chunks has no reason to
read. A chunk longer than the budget is therefore never shown whole, and an ellipsis says so.
"""

import re
import unicodedata
from collections.abc import Callable

from index_builder.errors import InputError

LEAD = re.compile(r"lead:([1-9][0-9]{0,8})")
ELLIPSIS = "…"
ZERO_WIDTH_JOINER = "\u200d"
EXTENDING = re.compile("[\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
VIRAMA = 9  # the combining class of the sign that ties two consonants into one
HANGUL_LEADING = re.compile("[\u1100-\u115f\ua960-\ua97f]")
HANGUL_TRAILING = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")
FLAG_HALF = re.compile("[\U0001f1e6-\U0001f1ff]")
FLAG_HALVES_BEFORE = re.compile("[\U0001f1e6-\U0001f1ff]+$")


def make_snippeter(spec: str) -> Callable[[str, str], str]:
    """The function of query and text that a setting names.

    Args:
        spec: ``lead:N``: the first N characters at most, ellipsis included, cut between two words.

    Raises:
        InputError: For any other setting.
    """
    match = LEAD.fullmatch(spec)
    if match is None:
        raise InputError(f'snippet is {spec!r}; it must be "lead:N" with N at least 1, such as "lead:200"')
    budget = int(match[1])
    return lambda _query, text: lead(text, budget)


def lead(text: str, budget: int) -> str:
    """The beginning of a text within ``budget`` characters.

    A cut falls before white space when that keeps at least half of the budget (scripts without spaces,
    and words longer than that, have no such place), and otherwise between two characters as a reader
    sees them: never inside a letter with its accents, an emoji sequence, a flag or a Hangul syllable.
    """
    content = text.strip()
    if len(content) <= budget:
        return content
    room = budget - len(ELLIPSIS)
    cut = next((at for at in range(room, room // 2, -1) if content[at].isspace()), None)
    if cut is None:
        cut = next((at for at in range(room, 0, -1) if _may_cut(content, at)), 0)
    return content[:cut].rstrip() + ELLIPSIS


def _may_cut(text: str, at: int) -> bool:
    """Whether a grapheme may end before ``text[at]``; errs on the side of keeping characters together."""
    before, after = text[at - 1], text[at]
    if before == ZERO_WIDTH_JOINER or _extends(after) or (before, after) == ("\r", "\n"):
        return False
    if (
        unicodedata.combining(before) == VIRAMA
        or HANGUL_LEADING.match(before)
        or HANGUL_TRAILING.match(after)
    ):
        return False
    if not FLAG_HALF.match(after):
        return True
    halves = FLAG_HALVES_BEFORE.search(text, 0, at)
    return halves is None or len(halves[0]) % 2 == 0


def _extends(character: str) -> bool:
    """Combining marks, joiners, variation selectors, skin tones and the tags of regional flags."""
    return unicodedata.category(character).startswith("M") or bool(EXTENDING.match(character))
