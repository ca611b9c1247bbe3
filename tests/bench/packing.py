"""What packing in corpus order leaks to a search, and how much gold is recovered from packed chunks.

Recall is that of BM25 with the questions themselves, on the three real sets. ``packed:1000`` shuffles the
passages by seed first; beside it stand the same packing in corpus order, and windows such as A-RAG's: 1,000
word pieces of the corpus from beginning to end, 100 of them shared with the next window, lower-cased and
without titles. A-RAG's own files seem to be made so: the corpora of 2WikiMultiHopQA and MuSiQue give exactly
their numbers of chunks, 658 and 1,354, in this way and in no other that was tried.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from index_builder.chunking import ChunkOfPassages, chunk_passages, pack_in_order
from index_builder.datasets import LOADERS
from index_builder.datasets.corpus import distinct, passage_key, read_corpus
from index_builder.datasets.text_match import holders
from index_builder.lexical import DEFAULT_ANALYSER, LexicalIndex, write_lexical
from index_builder.recall import RECALL_AT, recall_figures
from index_builder.records import Chunk, Passage, Question
from tests.bench.places import SOURCES, real_corpus, real_file
from tests.bench.rows import Row, at_least, report
from tests.bench.timing import Timing, timed
from tests.contract.packed_manners import MANNERS

SEED, TOKENS = 7, 1000
LEAK = "theirs: the same in corpus order, where a question's gold passages share a chunk"
WINDOWS = "windows in corpus order leak too; theirs: shuffled packing"


@dataclass(frozen=True, slots=True)
class Gold:
    """The ordinals of the chunks that hold each gold passage, and how much of the gold that is."""

    ordinals: dict[bytes, list[int]]
    recovered: float


def rows(*, quick: bool) -> Iterator[Row]:
    """Every set; in a quick run one."""
    for dataset in ["two_wiki"] if quick else SOURCES:
        yield from _rows_of(dataset)


def _rows_of(dataset: str) -> list[Row]:
    passages = list(distinct(read_corpus(real_corpus(dataset))))
    questions = LOADERS[dataset](real_file(SOURCES[dataset])).questions
    shuffled = _recall_of_packing(list(chunk_passages(passages, f"packed:{TOKENS}", SEED)), questions)
    in_order = _recall_of_packing(list(pack_in_order(passages, TOKENS)), questions)
    texts = MANNERS["as A-RAG's"](passages).chunks
    windows = [Chunk(str(number), "", text) for number, text in enumerate(texts)]
    gold, timing = _gold_by_text(texts, questions)
    leaking = _recall(windows, gold.ordinals, questions)
    join = f"text_match over {len(texts):,} windows, in {timing.cpu:.1f} s; the rest stands in none of them"
    return [
        at_least(f"recall@5 on {dataset}, packed:{TOKENS}", shuffled, "%", None, LEAK, theirs=in_order),
        at_least(f"recall@5 on {dataset}, A-RAG's windows", leaking, "%", None, WINDOWS, theirs=shuffled),
        at_least(f"gold of {dataset} recovered from windows", gold.recovered, "%", 99, join),
    ]


def _recall_of_packing(packed: Sequence[ChunkOfPassages], questions: Sequence[Question]) -> float:
    places = {passage_key(each): [ordinal] for ordinal, (_, held) in enumerate(packed) for each in held}
    return _recall([chunk for chunk, _ in packed], places, questions)


def _recall(chunks: Sequence[Chunk], places: dict[bytes, list[int]], questions: Sequence[Question]) -> float:
    """Recall@5 of BM25 in %, over the questions whose gold stands in the chunks."""
    gold = [
        {ordinal for each in question.gold or () for ordinal in places.get(passage_key(each), [])}
        for question in questions
    ]
    asked = [number for number, own in enumerate(gold) if own]
    with tempfile.TemporaryDirectory() as folder:
        write_lexical(Path(folder), chunks, DEFAULT_ANALYSER)
        index = LexicalIndex(Path(folder), DEFAULT_ANALYSER)
        ranked, _ = index.search_batch([questions[number].text for number in asked], max(RECALL_AT))
    return 100 * (recall_figures(ranked, [gold[number] for number in asked])["recall@5"] or 0.0)


def _gold_by_text(texts: Sequence[str], questions: Sequence[Question]) -> tuple[Gold, Timing]:
    passages = [each for question in questions for each in question.gold or ()]
    found: dict[str, tuple[int, ...]] = {}
    timing = timed(lambda: found.update(holders(texts, [passage.text for passage in passages])))
    ordinals = {passage_key(each): list(found[each.text]) for each in passages if each.text in found}
    return Gold(ordinals, 100 * _share_found(passages, ordinals)), timing


def _share_found(passages: Sequence[Passage], ordinals: dict[bytes, list[int]]) -> float:
    return sum(passage_key(each) in ordinals for each in passages) / len(passages)


if __name__ == "__main__":
    report(rows)
