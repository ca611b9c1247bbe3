"""Where a text may be cut: between two characters as a reader sees them.

Never inside a letter with its accents, an emoji sequence, a flag or a Hangul syllable. It errs on the
side of keeping characters together, and is no full segmentation of Unicode.
"""

import re
import unicodedata

ZERO_WIDTH_JOINER = "\u200d"
EXTENDING = re.compile("[\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
VIRAMA = 9  # the combining class of the sign that ties two consonants into one
HANGUL_LEADING = re.compile("[\u1100-\u115f\ua960-\ua97f]")
HANGUL_TRAILING = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")
FLAG_HALF = re.compile("[\U0001f1e6-\U0001f1ff]")


def may_cut(text: str, at: int) -> bool:
    """Whether a character, as a reader sees it, may end before ``text[at]``.

    Args:
        text: Any text.
        at: A place between its first and last character, from 1 on.
    """
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
    start = at
    while start and FLAG_HALF.match(text[start - 1]):
        start -= 1
    return (at - start) % 2 == 0


def _extends(character: str) -> bool:
    """Combining marks, joiners, variation selectors, skin tones and the tags of regional flags."""
    return unicodedata.category(character).startswith("M") or bool(EXTENDING.match(character))
