"""Where entities stand: in what a trajectory was shown, in what it read. Rules and labels share this.

An entity stands in a text when its words stand there in a row, case, width and punctuation aside.
Where there is no entity to look for, the question has no answer: None, never False.
"""

from collections.abc import Iterable

from evaluator.core.ports import EntityExtractor
from evaluator.evidence.normalise import fold

LONGEST_BARE_ANSWER = 6
ENOUGH = 0.8

_ARTICLES = ("a ", "an ", "the ")


def snippet_only(
    answer: str, question: str, shown_text: str, read_text: str, extract: EntityExtractor
) -> bool | None:
    """Whether every entity of the answer stands in the shown text and none in the read text.

    Args:
        answer: The proposed or given answer.
        question: Its entities are dropped from the answer's unless none remain.
        shown_text: Titles and snippets of all results.
        read_text: Titles and texts of all read chunks.
        extract: Finds entities.
    """
    wanted = answer_entities(answer, question, extract)
    if not wanted:
        return None
    read = _searchable(read_text)
    if any(_spaced(entity) in read for entity in wanted):
        return False
    shown = _searchable(shown_text)
    return all(_spaced(entity) in shown for entity in wanted)


def low_evidence(
    question: str, read_text: str, extract: EntityExtractor, threshold: float = ENOUGH
) -> bool | None:
    """Whether strictly less than that share of the question's distinct entities stands in the read text."""
    wanted = _folded(extract(question))
    if not wanted:
        return None
    read = _searchable(read_text)
    return sum(_spaced(entity) in read for entity in wanted) / len(wanted) < threshold


def answer_entities(answer: str, question: str, extract: EntityExtractor) -> tuple[str, ...]:
    """The folded entities by which an answer is looked for; an answer may be one as a whole.

    An answer of at most six words that has no entities is itself one, unless it says yes or no: it
    does when that is its first word.
    """
    own = _folded(extract(answer))
    if own:
        asked = set(_folded(extract(question)))
        return tuple(entity for entity in own if entity not in asked) or own
    words = fold(answer).split()
    is_name = 0 < len(words) <= LONGEST_BARE_ANSWER and words[0] not in {"yes", "no"}
    return _folded([answer]) if is_name else ()


def _folded(found: Iterable[str]) -> tuple[str, ...]:
    """Distinct, without a leading article: "The Beatles" stands wherever "Beatles" does."""
    kept: dict[str, None] = {}
    for entity in found:
        folded = fold(entity)
        for article in _ARTICLES:
            folded = folded.removeprefix(article)
        if folded:
            kept[folded] = None
    return tuple(kept)


def _searchable(text: str) -> str:
    return _spaced(fold(text))


def _spaced(folded: str) -> str:
    return f" {folded} "
