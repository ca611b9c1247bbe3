"""BM25 worked out in plain Python: the reference that searches are compared with.

It follows the published formulas (Robertson's BM25 with k1 = 1.2, b = 0.75, and Lucene's way to keep a
document's length in one byte), over terms that a table written by hand assigns to words.
"""

import math
from collections import Counter
from collections.abc import Sequence

TERMS = {
    # word      plain       english    english-broad
    "Zorb": ("zorb", "zorb", "zorb"),
    "quim": ("quim", "quim", "quim"),
    "Engines": ("engines", "engin", "engin"),
    "engine": ("engine", "engin", "engin"),
    "flies": ("flies", "fli", "fli"),
    "THE": ("the", None, None),
    "of": ("of", None, None),
    "who": ("who", "who", None),
    "where": ("where", "where", None),
    "himself": ("himself", "himself", None),
}
COLUMNS = {"plain": 0, "english": 1, "english-broad": 2}


def terms_of(words: Sequence[str], analyser: str) -> list[str]:
    """The terms that the analyser makes of these words."""
    return [term for word in words if (term := TERMS[word][COLUMNS[analyser]]) is not None]


def rounded(length: int) -> int:
    """The length as one byte keeps it: exact up to 40, then four binary digits of what is above 24."""
    if length < 24:
        return length
    above = length - 24
    places = max(above.bit_length() - 4, 0)
    return 24 + (above >> places << places)


def scores(documents: Sequence[Sequence[str]], query: Sequence[str]) -> dict[int, float]:
    """The score of every document that holds a term of the query; documents and query are terms."""
    counts = [Counter(document) for document in documents]
    average = sum(map(len, documents)) / len(documents)
    found: dict[int, float] = {}
    for term in set(query):
        holding = [number for number, count in enumerate(counts) if count[term]]
        rarity = math.log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for number in holding:
            damping = 1.2 * (1 - 0.75 + 0.75 * rounded(len(documents[number])) / average)
            count = counts[number][term]
            found[number] = found.get(number, 0.0) + rarity * count * 2.2 / (count + damping)
    return found


def expected(documents: Sequence[Sequence[str]], query: Sequence[str], analyser: str) -> dict[int, float]:
    """The scores of a search; documents and query are words of ``TERMS``.

    A query whose terms are in no document is looked up among the words as ``plain`` makes them.
    """
    for attempt in (analyser, "plain"):
        found = scores([terms_of(document, attempt) for document in documents], terms_of(query, attempt))
        if found:
            return found
    return {}
