"""Named entities by rule: quoted titles, dates, numbers and capitalised spans.

The paper's pattern is unknown; every choice below is this project's own.

- A **quoted title** is 1 to 8 words in double quotes of any style; the whole is one entity.
- A **date** with a month's name is one entity ("12 March 1999", "March 1999"); any other token that
  begins with a digit is one too ("1969", "19th", "2002–03", "1,250.5").
- A **capitalised span** is a run of words that hold a capital letter, joined by spaces, "&" or a few
  lower-case particles ("University of Oxford", "Ludwig van Beethoven"), never by "and" or a comma. A
  possessive ending of its last word is dropped; "I" alone is no entity.
- Leading articles are dropped ("The Beatles" is "Beatles"). At the **start of a sentence** so are words
  that are capitalised only because they stand there ("Which of the Beatles ..." is "Beatles"); other
  first words stay, since an answer is often one name.
- Two entities are the same when they are equal but for case, width and punctuation; the first is kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from evaluator.evidence.normalise import fold

LONGEST_QUOTED_TITLE = 8

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_TOKEN = re.compile(
    rf"""
      (?P<quoted> “[^“”]+” | "[^"]+" | „[^„“”]+[“”] | «[^«»]+» | ``[^`']+'' )
    | (?P<date> \b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?\b
              | \b{_MONTH}\s+{_DAY}(?:,?\s+\d{{4}})?\b
              | \b{_MONTH},?\s+\d{{4}}\b )
    | (?P<number> \b\d\w*(?:[.,:/–-]\d\w*)* )
    | (?P<word> \b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Mt|Ft|Prof|Gen|Col|Lt|Capt|Sgt|Rev|Hon|Gov|Sen)\.
              | \b(?:[^\W\d_]\.)+
              | [^\W\d_]\w*(?:['’&-]\w+)* )
    """,
    re.VERBOSE,
)
_JOINT = re.compile(r"\s+(?:&\s+)?|-")
_SENTENCE_END = re.compile(r"[.!?:;\n]")
_POSSESSIVE = re.compile(r"['’]s?$")
_PRONOUN = re.compile(r"I(?:['’]\w+)?")
_PARTICLES_TEXT = "of the de da das dos di du del della des la le les el al bin ibn von van der den zu"
_PARTICLES = frozenset(_PARTICLES_TEXT.split())
_ARTICLES = frozenset({"a", "an", "the"})
_OPENERS_TEXT = """
    who whom whose what which when where why how whether
    is are was were be been being am do does did has have had can could will would shall should may might
    must name give list find tell say identify determine
    i you he she it we they me him her us them my your his its our their this that these those there here
    in on at by for from of to with without within between among during after before since until about above
    below under over against into through across near both either neither and or but nor so if while as
    because although though than then also only not yes no some any all most many much more less few each
    every other another such same one two three
"""
_SENTENCE_OPENERS = _ARTICLES | frozenset(_OPENERS_TEXT.split())


@dataclass(slots=True)
class _Span:
    """A run of capitalised words that is being built; particles wait until a word follows them."""

    words: list[tuple[int, int]]
    opens_sentence: bool
    waiting: list[tuple[int, int]]


@lru_cache(maxsize=1024)  # a question is asked about at every final of all its episodes
def entities(text: str) -> tuple[str, ...]:
    """Distinct entities, in order of appearance, as they stand in the text."""
    found: dict[str, str] = {}
    for entity in _in_order(text):
        found.setdefault(fold(entity), entity)
    found.pop("", None)
    return tuple(found.values())


def _in_order(text: str) -> Iterator[str]:
    span: _Span | None = None
    end = 0
    for token in _TOKEN.finditer(text):
        is_first = end == 0
        gap, place, end = text[end : token.start()], token.span(), token.end()
        kind, word = token.lastgroup, token.group()
        if span is not None and kind == "word" and _JOINT.fullmatch(gap):
            if _has_capital(word):
                span.words += [*span.waiting, place]
                span.waiting = []
                continue
            if word in _PARTICLES:
                span.waiting.append(place)
                continue
        if span is not None:
            yield from _closed(text, span)
            span = None
        if kind == "quoted":
            yield from _quoted(word)
        elif kind != "word":
            yield word
        elif _has_capital(word):
            span = _Span([place], opens_sentence=is_first or bool(_SENTENCE_END.search(gap)), waiting=[])
    if span is not None:
        yield from _closed(text, span)


def _quoted(token: str) -> Iterator[str]:
    """The title between quotation marks, or the entities within when it is a whole quotation."""
    inside = token.strip("“”\"„«»`'").strip(" ,.")
    if len(inside.split()) <= LONGEST_QUOTED_TITLE:
        yield inside
    else:
        yield from _in_order(inside)


def _closed(text: str, span: _Span) -> Iterator[str]:
    words = span.words
    droppable = _SENTENCE_OPENERS if span.opens_sentence else _ARTICLES
    while words and _is_dropped(text[slice(*words[0])], droppable):
        words = words[1:]
    if words:
        entity = _POSSESSIVE.sub("", text[words[0][0] : words[-1][1]])
        if not _PRONOUN.fullmatch(entity):
            yield entity


def _is_dropped(word: str, droppable: frozenset[str]) -> bool:
    # A particle is one only in lower case: the Van cat is named after a lake.
    return word in _PARTICLES or _POSSESSIVE.sub("", word).lower() in droppable


def _has_capital(word: str) -> bool:
    return any(character.isupper() for character in word)
