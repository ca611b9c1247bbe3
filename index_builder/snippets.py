"""What a search result shows of a chunk, within a budget of characters: its beginning or its best sentences.

The choice is part of the protocol: an agent that is shown whole chunks has no reason to read. A chunk
longer than the budget is therefore never shown whole, and an ellipsis stands wherever text is left out.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from index_builder.errors import InputError
from index_builder.graphemes import may_cut
from index_builder.sentences import sentences

SPEC = re.compile(r"(lead|best-sentences):([1-9][0-9]{0,8})")
ELLIPSIS = "…"
IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
WORD = re.compile(f"{IDEOGRAPH.pattern}|(?:(?!{IDEOGRAPH.pattern})[^\\W_])+")
UNTELLING = """
a an and are as at be but by for if in into is it no not of on or s such t that the their then there these
they this to was will with
"""
STOP_WORDS = frozenset(UNTELLING.split())
WORDS_SOUGHT = 64
"""Of a query that is longer, as no question is, only so many distinct words count."""
QUERIES_KEPT = 1024

Span = tuple[int, int]


def make_snippeter(spec: str) -> Callable[[str, str], str]:
    """The function of query and text that a setting names.

    Args:
        spec: ``lead:N``: the first N characters at most, ellipsis included, cut between two words.
            ``best-sentences:N``: of N characters, the sentences that share most words with the query.

    Raises:
        InputError: For any other setting.
    """
    match = SPEC.fullmatch(spec)
    if match is None:
        raise InputError(
            f'snippet is {spec!r}; known: "lead:N" and "best-sentences:N", '
            'N characters being at least 1, such as "lead:200"'
        )
    budget = int(match[2])
    if match[1] == "lead":
        return lambda _query, text: lead(text, budget)
    return lambda query, text: best_sentences(query, text, budget)


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
        cut = next((at for at in range(room, 0, -1) if may_cut(content, at)), 0)
    return content[:cut].rstrip() + ELLIPSIS


def best_sentences(query: str, text: str, budget: int) -> str:
    """The sentences of a text that are most alike to a query, in the order of the text.

    Alike is a sentence by the number of distinct words of the query in it, whatever their case, stop
    words left out (unless the query has no others); of equals the earlier is taken. Nothing else is known
    to a function of query and text alone, such as how rare a word is. Sentences are taken best first,
    each that still fits; where not even the best one fits, its beginning is shown.
    """
    content = text.strip()
    if len(content) <= budget:
        return content
    wanted = _words_sought(query)
    spans = list(sentences(content))
    alike = [_count(wanted, content[start:end].casefold()) for start, end in spans]
    best, *others = sorted(range(len(spans)), key=lambda place: -alike[place])
    shown = _shown(content, spans, [best])
    if len(shown) > budget:
        return _beginning(content, spans[best][0], budget)
    taken, used = [best], _length(spans[best])
    for place in others:
        if used + _length(spans[place]) < budget:
            more = sorted([*taken, place])
            longer = _shown(content, spans, more)
            if len(longer) <= budget:
                shown, taken, used = longer, more, used + _length(spans[place])
    return shown


@lru_cache(QUERIES_KEPT)
def _words_sought(query: str) -> tuple[str, ...]:
    words = list(dict.fromkeys(WORD.findall(query.casefold())))
    telling = [word for word in words if word not in STOP_WORDS]
    return tuple((telling or words)[:WORDS_SOUGHT])


def _count(words: Sequence[str], sentence: str) -> int:
    return len([word for word in words if word in sentence and _stands_in(sentence, word)])


def _stands_in(sentence: str, word: str) -> bool:
    """Whether a word stands in a sentence on its own; ideographs do wherever they stand."""
    at = sentence.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_joins(sentence[at - 1 : at], word[0]) or _joins(sentence[end : end + 1], word[-1])):
            return True
        at = sentence.find(word, end)
    return False


def _joins(neighbour: str, edge: str) -> bool:
    """Whether a character beside a word lengthens it."""
    return neighbour.isalnum() and not (IDEOGRAPH.match(neighbour) or IDEOGRAPH.match(edge))


def _length(span: Span) -> int:
    return span[1] - span[0]


def _shown(content: str, spans: Sequence[Span], places: Sequence[int]) -> str:
    """The sentences at some places, rising, with an ellipsis for each stretch that is left out."""
    parts = [] if places[0] == 0 else [ELLIPSIS]
    first = places[0]
    for place, following in zip(places, [*places[1:], None], strict=True):
        if following != place + 1:
            parts.append(content[spans[first][0] : spans[place][1]])
            first = following if following is not None else first
            if following is not None or place != len(spans) - 1:
                parts.append(ELLIPSIS)
    return " ".join(parts)


def _beginning(content: str, start: int, budget: int) -> str:
    """From a sentence on as much as fits, an ellipsis before it where that leaves room for text."""
    before = f"{ELLIPSIS} " if start else ""
    room = budget - len(before)
    return before + lead(content[start:], room) if room > len(ELLIPSIS) else ELLIPSIS
