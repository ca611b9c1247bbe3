"""Answers that say they cannot answer, and answers that only look like it."""

import pytest

from evaluator.evidence.decline import is_decline


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot answer this question.",
        "I can't determine the answer from the documents.",
        "I don't know",
        "I do not have enough information to answer.",
        "I'm sorry, but I could not find the answer.",
        "Sorry, I was unable to find it",
        "Unfortunately, I could not identify the director.",
        "We were unable to verify the year.",
        "Based on the documents, I cannot determine the birthplace.",
        "The answer cannot be determined from the given passages",
        "It could not be found",
        "The answer is not available in the collection.",
        "There is not enough information to tell.",
        "Insufficient evidence",
        "Unknown",
        "The answer is unknown.",
        "The answer was not found.",
        "N/A",
        "Not found.",
        "No information available",
        "I did not find any passage on this.",
    ],
)
def test_a_decline_is_recognised(answer: str) -> None:
    assert is_decline(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no",
        "None",
        "Na",
        "Lyon",
        "The Unknown",
        "Unknown Pleasures",
        "Can't Find My Way Home",
        "I Cannot Tell a Lie Anymore",
        "I Don't Wanna Know",
        "I cannot be sure, but Lyon",
        "I could not find it stated, but it is probably Lyon.",
        "I cannot determine it exactly; most likely 1969",
        "Not enough",
        "It cannot be denied",
        "The Sorry Not Sorry Tour",
    ],
)
def test_an_answer_is_not_taken_for_one(answer: str) -> None:
    assert not is_decline(answer)
