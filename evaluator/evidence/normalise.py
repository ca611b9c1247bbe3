"""Two foldings of text: one to compare answers (as SQuAD), one to find words in passages.

``normalise_answer`` deletes punctuation ("U.S." becomes "us"), which suits short answers.
``fold`` puts a space in its place ("1999–2000" becomes "1999 2000"), so that a word stands in a text
wherever it stands between spaces. Both fold width and compatibility forms (NFKC) and case.
"""

import re
import string
import unicodedata
from functools import lru_cache

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_ASCII = re.compile(r"[\x00-\x7f]+")
_SPACED_BYTES = bytes(32 if code < 128 and not chr(code).isalnum() else code for code in range(256))
"""UTF-8 with a space for every ASCII character that is no letter or digit; other bytes stay."""


class _Punctuation(dict[int, int | None]):
    """A table for ``str.translate`` that deletes ASCII punctuation and Unicode's category P."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        is_punctuation = character in string.punctuation or unicodedata.category(character).startswith("P")
        self[code] = None if is_punctuation else code
        return self[code]


_DELETE_PUNCTUATION = _Punctuation()


def normalise_answer(text: str, *, drop_articles: bool = True) -> str:
    """An answer as SQuAD compares it: case, width, punctuation and articles gone, spaces collapsed.

    Args:
        text: Any text.
        drop_articles: False keeps "a", "an" and "the", for a gold answer that is nothing else.
    """
    bare = _casefolded(text).translate(_DELETE_PUNCTUATION)
    if not bare.isascii():
        # Without the punctuation between them, a letter and an accent are one character.
        bare = unicodedata.normalize("NFKC", bare)
    return " ".join((_ARTICLES.sub(" ", bare) if drop_articles else bare).split())


@lru_cache(maxsize=64)  # the rules of one ruling fold the same few texts
def fold(text: str) -> str:
    """The words of a text between single spaces: letters and digits only, case and width folded."""
    folded = _casefolded(text)
    if not folded.isascii():
        # Replacing the few strange characters one by one is twice as fast as a look at each character.
        for character in set(_ASCII.sub("", folded)):
            if not character.isalnum():
                folded = folded.replace(character, " ")
    words = folded.encode("utf-8", "surrogatepass").translate(_SPACED_BYTES).split()
    return b" ".join(words).decode("utf-8")


def _casefolded(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Case folding can undo NFKC, so it is done again: "ŉ" and the like then compare equal.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
