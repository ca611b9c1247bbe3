"""How much of the gold each retriever finds when the question itself is the query.

The first look at a bundle: it needs no agent and no model call, and bounds what an agent's first search
can show.
"""

from collections.abc import Sequence
from typing import TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from index_builder.bundle import Bundle
from index_builder.fusion import fuse
from index_builder.hybrid import RRF_K
from index_builder.query_text import query_text

Ids = npt.NDArray[np.int64]
Figures: TypeAlias = dict[str, float | None]

RECALL_AT = (5, 10, 50)
COMPLETE_AT = 5
DEPTH = 100
DEPTHS = (10, 20, 50, DEPTH, 200)


class RecallTable(TypedDict, total=False):
    """What ``readgate index recall --json`` prints."""

    n_questions: int
    bm25: Figures
    dense: Figures
    hybrid: Figures
    hybrid_by_depth: dict[str, Figures]


def recall_table(bundle: Bundle) -> RecallTable:
    """Recall of gold chunks over the questions that have any.

    Args:
        bundle: An open bundle; without vectors there are only rows for ``bm25``.

    Returns:
        ``n_questions`` (those with known gold), and for each retriever ``recall@5``, ``@10``, ``@50``
        (the mean share of a question's gold chunks among the first results), ``any@5`` and ``all@5``
        (the share of questions with at least one, and with all of them), from the first 100 candidates of
        each ranking. ``hybrid_by_depth`` has the figures of ``hybrid`` for other numbers of candidates,
        the setting ``protocol.depth``; None for more results than candidates, which a search refuses.
        None everywhere where no gold is known.
    """
    known = [question for question in bundle.questions if question.gold_chunks]
    gold = [
        {bundle.chunks.ordinal(chunk_id) for chunk_id in question.gold_chunks or ()} for question in known
    ]
    queries = [query_text(question.question) for question in known]
    lexical, _ = bundle.lexical.search_batch(queries, max(DEPTHS))
    table: RecallTable = {"n_questions": len(known), "bm25": recall_figures(lexical, gold)}
    if bundle.vectors is None:
        return table
    by_depth: dict[int, Figures] = {}
    vectors = bundle.embedder.embed_queries(queries)
    for depth in DEPTHS:
        dense, _ = bundle.vectors.search_batch(vectors, depth)
        fused, _ = fuse([lexical[:, :depth], dense], k=RRF_K, depth=min(depth, max(RECALL_AT)))
        by_depth[depth] = recall_figures(fused, gold) | {f"recall@{k}": None for k in RECALL_AT if k > depth}
        if depth == DEPTH:
            table["dense"] = recall_figures(dense, gold)
    table["hybrid"] = by_depth[DEPTH]
    table["hybrid_by_depth"] = {str(depth): figures for depth, figures in by_depth.items()}
    return table


def recall_figures(ranked: Ids, gold: Sequence[set[int]]) -> Figures:
    """The figures of one retriever.

    Args:
        ranked: Ids [questions, results], best first, -1 where there are no more.
        gold: The gold ids of each question, none empty.
    """
    found = np.array(
        [[item in own for item in row] for row, own in zip(ranked.tolist(), gold, strict=True)], dtype=bool
    ).reshape(ranked.shape)
    sizes = np.array([len(own) for own in gold])
    figures: Figures = {
        f"recall@{k}": _mean(found[:, :k].sum(axis=1) / np.maximum(sizes, 1)) for k in RECALL_AT
    }
    first = found[:, :COMPLETE_AT].sum(axis=1)
    figures[f"any@{COMPLETE_AT}"] = _mean(first > 0)
    figures[f"all@{COMPLETE_AT}"] = _mean(first == sizes)
    return figures


def _mean(values: npt.NDArray[np.floating | np.bool_]) -> float | None:
    return float(np.mean(values)) if values.size else None
