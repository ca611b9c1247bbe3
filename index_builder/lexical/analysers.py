"""Analysers: how a text becomes the terms that are looked up, the same for passages and queries.

An analyser is a declared part of a bundle, by name; another analysis must have another name. All split at
whatever is neither letter nor digit and lower case. Words of up to 1,000 bytes are kept: tantivy's usual
limit of 40 would make a long name unfindable, and without any the stemmer takes minutes over a megabyte
without a space.

- ``plain`` does no more.
- ``english`` drops the 33 words of Lucene's English stop list, which keeps question words, and stems.
- ``english-broad`` drops Snowball's English stop list, question words included, and stems. It is
  for big collections: of a query, words that more than a tenth of all passages, and more than 10,000, hold
  are left out too, as stop words of that collection, as long as a rarer one is found. No published list
  gets a search of a million passages below a fifth of the cost of ``plain``, since content words are what
  it then pays for; this does, and on the real sets loses less recall than the 571 words of SMART.

The stemmer is Snowball's (Porter 2). What an analyser drops is kept, unstemmed, in a field of its own
(``every_word``), for queries of which nothing else is left.
"""

from collections.abc import Callable, Mapping
from math import inf
from types import MappingProxyType
from typing import Final, TypeAlias

import tantivy

from index_builder.errors import InputError

DEFAULT_ANALYSER: Final = "english"
EVERY_WORD: Final = "every_word"
LONGEST_WORD_BYTES: Final = 1000

# snowballstem.org/algorithms/english/stop.txt (BSD licence). Of its contractions ("don't", "she'll") only
# the endings are taken, since the splitting leaves "don" and "t", and Don is a name.
SNOWBALL_STOP_WORDS: Final = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those
    am is are was were be been being have has had having do does did doing would should could ought cannot
    a an the and but if or because as until while of at by for with about against between into through
    during before after above below to from up down in out on off over under again further then once
    here there when where why how all any both each few more most other some such no nor not only own same
    so than too very
    d ll m re s t ve
"""

COMMON_SHARE: Final = MappingProxyType({"english-broad": 0.1})
COMMON_AT_LEAST: Final = 10_000

Builder: TypeAlias = tantivy.TextAnalyzerBuilder


def _words() -> Builder:
    """What all analysers share; a builder can be used only once."""
    simple = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    kept = simple.filter(tantivy.Filter.remove_long(LONGEST_WORD_BYTES + 1))
    return kept.filter(tantivy.Filter.lowercase())


def _english(stop_words: tantivy.Filter) -> Builder:
    return _words().filter(stop_words).filter(tantivy.Filter.stemmer("english"))


_BUILDERS: Final[Mapping[str, Callable[[], Builder]]] = MappingProxyType(
    {
        "plain": _words,
        "english": lambda: _english(tantivy.Filter.stopword("english")),
        "english-broad": lambda: _english(tantivy.Filter.custom_stopword(SNOWBALL_STOP_WORDS.split())),
    }
)
ANALYSERS: Final = tuple(_BUILDERS)


def check_analyser(name: str) -> None:
    """Raise ``InputError`` for a name that is not one of ``ANALYSERS``."""
    if name not in _BUILDERS:
        raise InputError(f"analyser is {name!r}; known: {', '.join(ANALYSERS)}")


def common_above(name: str, passages: int) -> float:
    """How many of the passages a word may be in before queries do without it; infinite for most analysers."""
    share = COMMON_SHARE.get(name)
    return inf if share is None else max(COMMON_AT_LEAST, share * passages)


def analysers_of(name: str) -> dict[str, tantivy.TextAnalyzer]:
    """The analyser of each field of an index, in the order in which queries try the fields.

    Args:
        name: One of ``ANALYSERS``, also the name of its field; ``InputError`` for any other.
    """
    check_analyser(name)
    fields = {name: _BUILDERS[name]().build()}
    return fields if name == "plain" else fields | {EVERY_WORD: _words().build()}
