"""How much of the gold each retriever finds when the question itself is the query.

The first look at a bundle: it needs no agent and no model call, and bounds what an agent's first search
can show.
"""

from collections.abc import Sequence
from typing import TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from index_builder.bundle import Bundle
from index_builder.hybrid import HybridSearch, Retriever

Ids = npt.NDArray[np.int64]
RecallTable: TypeAlias = dict[str, int | dict[str, float | None]]

RECALL_AT = (5, 10, 50)
COMPLETE_AT = 5
DEPTH = 100


def recall_table(bundle: Bundle) -> RecallTable:
    """Recall of gold chunks over the questions that have any.

    Args:
        bundle: An open bundle; without vectors there are only rows for ``bm25``.

    Returns:
        ``n_questions`` (those with known gold), and for each retriever ``recall@5``, ``@10``, ``@50``
        (the mean share of a question's gold chunks among the first results), ``any@5`` and ``all@5``
        (the share of questions with at least one, and with all of them). None where no gold is known.
    """
    known = [question for question in bundle.questions if question.gold_chunks]
    gold = [
        {bundle.chunks.ordinal(chunk_id) for chunk_id in question.gold_chunks or ()} for question in known
    ]
    table: RecallTable = {"n_questions": len(known)}
    for retriever in get_args(Retriever) if bundle.vectors is not None else ("bm25",):
        search = HybridSearch(bundle, retriever=retriever, k=max(RECALL_AT), depth=DEPTH)
        ids, _ = search.rank_batch([question.question for question in known])
        search.close()
        table[retriever] = recall_figures(ids, gold)
    return table


def recall_figures(ranked: Ids, gold: Sequence[set[int]]) -> dict[str, float | None]:
    """The figures of one retriever.

    Args:
        ranked: Ids [questions, results], best first, -1 where there are no more.
        gold: The gold ids of each question, none empty.
    """
    found = np.array(
        [[item in own for item in row] for row, own in zip(ranked.tolist(), gold, strict=True)], dtype=bool
    ).reshape(ranked.shape)
    sizes = np.array([len(own) for own in gold])
    figures = {f"recall@{k}": _mean(found[:, :k].sum(axis=1) / np.maximum(sizes, 1)) for k in RECALL_AT}
    first = found[:, :COMPLETE_AT].sum(axis=1)
    figures[f"any@{COMPLETE_AT}"] = _mean(first > 0)
    figures[f"all@{COMPLETE_AT}"] = _mean(first == sizes)
    return figures


def _mean(values: npt.NDArray[np.floating | np.bool_]) -> float | None:
    return float(np.mean(values)) if values.size else None
