"""Passages become chunks, the unit that is searched and read; and which chunks hold the gold passages.

``passage`` makes one chunk of each passage. ``packed:N`` fills chunks with passages up to N tokens, after
a seeded shuffle: a corpus is its questions' contexts laid end to end, so that packing it in order would
put the gold passages of a question into one chunk and make every search find them all. A token is four
bytes of UTF-8, rounded up over the chunk (``bytes4``), as everywhere in this project. A passage is never
split: one that is longer than N is a chunk of its own.

A chunk's id is drawn from its content. It says nothing of the chunk's place in the corpus, where the
neighbours of a gold passage are gold too, and a passage keeps it in whatever corpus it stands.
"""

import hashlib
import itertools
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from index_builder.datasets.corpus import passage_key
from index_builder.errors import InputError
from index_builder.records import Chunk, Passage, Question

PACKED = re.compile(r"packed:([1-9][0-9]{0,8})")
ID_HEX_DIGITS = 8
BETWEEN_PASSAGES = "\n\n"
BYTES_PER_TOKEN = 4

ChunkOfPassages: TypeAlias = tuple[Chunk, tuple[Passage, ...]]
"""A chunk with the passages it holds."""


def chunk_passages(passages: Iterable[Passage], chunking: str, seed: int) -> Iterator[ChunkOfPassages]:
    """Chunks, each with the passages it holds; ``passage`` streams, ``packed:N`` holds them all at once.

    Args:
        passages: Distinct passages, in corpus order.
        chunking: ``passage`` or ``packed:N``.
        seed: Of the shuffle before packing.

    Raises:
        InputError: For any other chunking; at the call, not while iterating.
    """
    tokens = packed_tokens(chunking)
    if tokens is not None:
        return pack_in_order(_shuffled(passages, seed), tokens)
    return _with_ids(((passage,) for passage in passages), packed=False)


def pack_in_order(passages: Iterable[Passage], tokens: int) -> Iterator[ChunkOfPassages]:
    """Chunks filled with passages in the order given, each with the passages it holds.

    Building a bundle shuffles them first. Corpus order puts a question's gold passages side by side; the
    bench packs in it to show what that does to recall.
    """
    return _with_ids(_groups(passages, tokens), packed=True)


def packed_tokens(chunking: str) -> int | None:
    """The N of ``packed:N``, None for ``passage``; an ``InputError`` for anything else."""
    if chunking == "passage":
        return None
    match = PACKED.fullmatch(chunking)
    if match is None:
        raise InputError(
            f'chunking is {chunking!r}; it must be "passage", or "packed:N" with N at least 1, '
            'such as "packed:1000"'
        )
    return int(match[1])


def gold_chunk_ids(question: Question, index: Mapping[bytes, list[str]]) -> tuple[str, ...] | None:
    """The distinct chunks that hold a question's gold passages, in official order.

    Args:
        question: As loaded.
        index: From ``passage_key`` (title and text, white space removed) to the ids of its chunks: one for
            chunks made here, several where chunks that come packed repeat a passage or cut it.

    Returns:
        None when the dataset does not say what is gold; passages that stand in no chunk are left out.
    """
    if question.gold is None:
        return None
    found = (index.get(passage_key(passage), []) for passage in question.gold)
    return tuple(dict.fromkeys(itertools.chain.from_iterable(found)))


def missing_gold(question: Question, index: Mapping[bytes, list[str]]) -> tuple[Passage, ...]:
    """The gold passages of a question that stand in no chunk, in official order."""
    return tuple(passage for passage in question.gold or () if not index.get(passage_key(passage)))


def _shuffled(passages: Iterable[Passage], seed: int) -> Iterator[Passage]:
    shuffled = list(passages)
    random.Random(seed).shuffle(shuffled)
    yield from shuffled


def _groups(passages: Iterable[Passage], tokens: int) -> Iterator[tuple[Passage, ...]]:
    group: list[Passage] = []
    size = 0
    for passage in passages:
        added = len(_packed_text((passage,)).encode()) + len(BETWEEN_PASSAGES) * bool(group)
        if group and size + added > tokens * BYTES_PER_TOKEN:
            yield tuple(group)
            group, size, added = [], 0, added - len(BETWEEN_PASSAGES)
        group.append(passage)
        size += added
    if group:
        yield tuple(group)


def _packed_text(passages: Iterable[Passage]) -> str:
    return BETWEEN_PASSAGES.join(f"{passage.title}\n{passage.text}" for passage in passages)


def _with_ids(groups: Iterable[tuple[Passage, ...]], *, packed: bool) -> Iterator[ChunkOfPassages]:
    taken: set[str] = set()
    for group in groups:
        title, text = ("", _packed_text(group)) if packed else (group[0].title, group[0].text)
        chunk_id = _chunk_id(title, text, taken)
        taken.add(chunk_id)
        yield Chunk(chunk_id, title, text), group


def _chunk_id(title: str, text: str, taken: set[str]) -> str:
    """``c`` and eight hex digits of the content's hash, or more where those are taken.

    The letter keeps ids such as 12345678 and 1e234567 from being read as numbers.
    """
    digits = hashlib.sha256(f"{title}\0{text}".encode()).hexdigest()
    lengths = range(ID_HEX_DIGITS, len(digits) + 1)
    free = (name for length in lengths if (name := f"c{digits[:length]}") not in taken)
    chunk_id = next(free, None)
    if chunk_id is None:
        raise InputError(f"the passage titled {title!r} stands more than 57 times in the corpus")
    return chunk_id


def indexed_text(chunk: Chunk) -> str:
    """What is searched of a chunk: its title, where it has one, and its text."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text
