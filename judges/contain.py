"""Contain-Acc: whether a gold answer stands in the predicted one, without any model.

``substring`` is the paper's and counts "no" in "north"; ``token`` asks for whole words. Because of
the former, rates are also given without yes/no golds: such a row then has no value.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from evaluator.evidence.normalise import normalise_answer

Boundary: TypeAlias = Literal["substring", "token"]

YES_NO = frozenset({"yes", "no"})


def contain(
    prediction: str,
    answers: Sequence[str],
    *,
    boundary: Boundary = "substring",
    aliases: bool = False,
    yes_no: bool = True,
) -> bool | None:
    """Whether the prediction contains the gold answer, both normalised.

    Args:
        prediction: The answer to grade.
        answers: The gold answer first, then its aliases.
        boundary: Whether the gold answer may stand inside a word.
        aliases: Whether an alias will do.
        yes_no: False = rows whose gold answer is yes or no have no value.

    Returns:
        None where the row has no value.
    """
    if not yes_no and is_yes_no(answers):
        return None
    golds = answers if aliases else answers[:1]
    return any(_contains(prediction, gold, boundary) for gold in golds)


def is_yes_no(answers: Sequence[str]) -> bool:
    """Whether the gold answer, aliases aside, is yes or no."""
    return normalise_answer(answers[0]) in YES_NO


def _contains(prediction: str, gold: str, boundary: Boundary) -> bool:
    # "The The" would be nothing, and nothing stands in everything.
    drop_articles = bool(normalise_answer(gold))
    wanted = normalise_answer(gold, drop_articles=drop_articles)
    given = normalise_answer(prediction, drop_articles=drop_articles)
    if boundary == "token":
        return bool(wanted) and f" {wanted} " in f" {given} "
    return bool(wanted) and wanted in given
