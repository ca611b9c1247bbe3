"""Packs passages the ways A-RAG's chunks may be packed and respelt, and knows which chunk holds which.

Each manner gives the chunks' texts and, in one measure (tokens or characters), where every passage's
text and every chunk begins and ends; what a chunk holds follows from these alone, however it is spelt.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

from tokenizers import Tokenizer

from index_builder.embedding.minilm import TOKENIZER, locate
from index_builder.records import Passage

Span: TypeAlias = tuple[int, int]
Titled: TypeAlias = tuple[str, str]
Respell: TypeAlias = Callable[[str], str]

CHARACTERS = 4000
TOKENS, OVERLAP = 1000, 100


@dataclass(frozen=True, slots=True)
class Packed:
    """Chunks, and where they and the passages in them begin and end."""

    chunks: Sequence[str]
    windows: Sequence[Span]
    spans: Sequence[Span]

    def touches(self, passage: int, chunk: int) -> bool:
        """Whether any of the passage stands in the chunk."""
        (start, stop), (first, last) = self.spans[passage], self.windows[chunk]
        return max(start, first) < min(stop, last)

    def whole(self, passage: int) -> set[int]:
        """The chunks that have all of the passage."""
        start, stop = self.spans[passage]
        return {chunk for chunk, (first, last) in enumerate(self.windows) if first <= start and stop <= last}

    def covered(self, passage: int, chunks: Iterable[int]) -> float:
        """The share of the passage that stands in at least one of the chunks."""
        start, stop = self.spans[passage]
        places = {
            place
            for chunk in chunks
            for place in range(max(start, self.windows[chunk][0]), min(stop, self.windows[chunk][1]))
        }
        return len(places) / (stop - start)


def token_windows(texts: Sequence[Titled], overlap: int, spelled: Callable[[Sequence[int]], str]) -> Packed:
    """Windows of tokens over the texts laid end to end: how A-RAG's chunks were made, as their counts say."""
    ids: list[int] = []
    spans: list[Span] = []
    for title, text in texts:
        ids += _tokens(title)
        start = len(ids)
        ids += _tokens(text)
        spans.append((start, len(ids)))
    windows = _windows(len(ids), TOKENS, overlap)
    return Packed([spelled(ids[start:stop]) for start, stop in windows], windows, spans)


def character_windows(texts: Sequence[Titled], overlap: int, respell: Respell) -> Packed:
    """Windows of characters over the texts laid end to end, which cut words as they come."""
    whole, spans = _end_to_end(texts)
    windows = _windows(len(whole), CHARACTERS, overlap)
    return Packed([respell(whole[start:stop]) for start, stop in windows], windows, spans)


def groups(texts: Sequence[Titled], respell: Respell) -> Packed:
    """Groups of whole passages."""
    whole, spans = _end_to_end(texts)
    windows: list[Span] = []
    start = end = 0
    for _, stop in spans:
        if end > start and stop - start > CHARACTERS:
            windows.append((start, end))
            start = end
        end = stop
    windows.append((start, end))
    return Packed([respell(whole[start:stop]) for start, stop in windows], windows, spans)


def _end_to_end(texts: Iterable[Titled]) -> tuple[str, list[Span]]:
    """One text, and where each of them stands in it, its title apart."""
    parts: list[str] = []
    spans: list[Span] = []
    place = 0
    for title, text in texts:
        before = f" {title} " if title else " "
        parts += [before, text]
        spans.append((place + len(before), place + len(before) + len(text)))
        place = spans[-1][1]
    return "".join(parts), spans


def _windows(length: int, size: int, overlap: int) -> list[Span]:
    return [(start, min(start + size, length)) for start in range(0, length, size - overlap)]


def _bare(passages: Iterable[Passage]) -> list[Titled]:
    return [("", passage.text) for passage in passages]


def _titled(passages: Iterable[Passage]) -> list[Titled]:
    return [(passage.title, passage.text) for passage in passages]


def _decoded(ids: Sequence[int]) -> str:
    return _tokenizer().decode(list(ids))


def _pieces(ids: Sequence[int]) -> str:
    return " ".join(str(_tokenizer().id_to_token(each)) for each in ids)


def _without_accents(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _tokens(text: str) -> list[int]:
    return list(_tokenizer().encode(text, add_special_tokens=False).ids)


@cache
def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(locate(TOKENIZER)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


MANNERS: Mapping[str, Callable[[Sequence[Passage]], Packed]] = MappingProxyType(
    {
        "as A-RAG's": lambda passages: token_windows(_bare(passages), OVERLAP, _decoded),
        "titles and no overlap": lambda passages: token_windows(_titled(passages), 0, _decoded),
        "word pieces with ## and [UNK]": lambda passages: token_windows(_bare(passages), OVERLAP, _pieces),
        "whole passages, raw": lambda passages: groups(_titled(passages), str),
        "whole passages, lower case": lambda passages: groups(_titled(passages), str.lower),
        "cut anywhere, no accents": lambda passages: character_windows(_bare(passages), 0, _without_accents),
        "cut anywhere, ASCII, overlapping": lambda passages: character_windows(
            _titled(passages), CHARACTERS // 10, _ascii
        ),
    }
)
"""Every way of packing that the join is tried on, by name."""
