"""The generic extractor: the best-supported span of the right type, for questions of any real set.

A sentence supports a question by the words they share, rare ones counting more; the answer is a
date, number, name or yes/no in the best-supporting sentence, as the question word asks. It follows
no chain of reasoning and is simply bad: real sets serve to exercise the path, not to show skill.
"""

import calendar
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from evaluator.controllers.scripted.conversation import Source

Kind: TypeAlias = Literal["yesno", "choice", "date", "year", "number", "name"]

STOP_WORDS = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "by", "to", "for", "from", "with", "and", "or", "as", "than"}
    | {"is", "are", "was", "were", "be", "been", "did", "do", "does", "has", "have", "had", "how", "both"}
    | {"what", "which", "who", "whom", "whose", "when", "where", "that", "this", "it", "its", "same"}
    | {"he", "she", "they", "his", "her", "their", "there", "these", "those", "after", "before", "but", "if"}
)
MONTH = f"(?:{'|'.join(calendar.month_name[1:])})"
SPANS: dict[str, re.Pattern[str]] = {
    "date": re.compile(
        rf"\b(?:\d{{1,2}} {MONTH} \d{{4}}|{MONTH} \d{{1,2}}, \d{{4}}|{MONTH} \d{{4}}|[12]\d{{3}})\b"
    ),
    "year": re.compile(r"\b[12]\d{3}\b"),
    "number": re.compile(r"\b\d[\d,.]*\d\b|\b\d\b"),
    "name": re.compile(r"\b[A-Z][\w'’.-]*\w(?: (?:(?:of|the|de|van|von|and|for|in) )?[A-Z][\w'’.-]*\w)*"),
}
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")
WORD = re.compile(r"\w+")
YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could)\b", re.IGNORECASE)
CHOICE = re.compile(r"(?:[:,]|\b(?:between|of)\b)\s*([A-Z][^,?]*?),? or (?:the )?([^?]+)\?")
READ_BONUS = 1.25


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: frozenset[str]


def best_span(question: str, sources: Sequence[Source]) -> str:
    """The best-supported span of the type the question asks for; "" when no text holds one."""
    kind, asked = kind_of(question), _words(question)
    sentences = [(s, _bonus(source)) for source in sources for s in _sentences(source.title, source.text)]
    if not sentences:
        return ""
    weights = _weights(asked, [sentence for sentence, _ in sentences])
    ranked = sorted(
        ((bonus * math.fsum(weights[word] for word in asked & s.words), s) for s, bonus in sentences),
        key=lambda scored: -scored[0],
    )
    if kind == "yesno":
        return _yes_or_no(asked, (sentence for _, sentence in ranked))
    options = CHOICE.search(question) if kind == "choice" else None
    if options:
        return _choice((options[1].strip(), options[2].strip()), ranked)
    for _, sentence in ranked:
        for span in SPANS.get(kind, SPANS["name"]).findall(sentence.text):
            if not _words(span) <= asked:
                return str(span)
    return ""


def kind_of(question: str) -> Kind:
    """The type of answer a question asks for, by its question word."""
    lowered = question.lower()
    if YES_NO.match(lowered):
        return "choice" if CHOICE.search(question) and " or " in lowered else "yesno"
    if CHOICE.search(question):
        return "choice"
    if re.search(r"\bwh(?:at|ich) year\b", lowered):
        return "year"
    if re.search(r"\bwhen\b|\bwhat (?:date|day)\b|\bdate of\b", lowered):
        return "date"
    if re.search(r"\bhow (?:many|much|old|long|far|tall|high)\b|\bwhat (?:number|percentage)\b", lowered):
        return "number"
    return "name"


def _bonus(source: Source) -> float:
    return 1.0 if source.kind == "snippet" else READ_BONUS


@lru_cache(maxsize=20_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower())) - STOP_WORDS


@lru_cache(maxsize=20_000)
def _sentences(title: str, text: str) -> tuple[_Sentence, ...]:
    """The sentences of a text; each is also about what the title names."""
    about = _words(title)
    return tuple(_Sentence(s, _words(s) | about) for s in SENTENCE_END.split(text) if s)


def _weights(asked: Iterable[str], sentences: Sequence[_Sentence]) -> dict[str, float]:
    counts = Counter(word for sentence in sentences for word in sentence.words)
    return {word: math.log(1 + len(sentences) / (1 + counts[word])) for word in sorted(asked)}


def _yes_or_no(asked: frozenset[str], sentences: Iterable[_Sentence]) -> str:
    """Yes when the shown text speaks of everything that was asked about."""
    missing = set(asked)
    for sentence in sentences:
        missing -= sentence.words
    return "no" if missing else "yes"


def _choice(options: tuple[str, str], ranked: Sequence[tuple[float, _Sentence]]) -> str:
    """The option that the best-supporting sentence names, the first one when none does."""
    for _, sentence in ranked:
        named = [option for option in options if option in sentence.text]
        if len(named) == 1:
            return named[0]
    return options[0]
