"""A verdict is read only where it is clear; everything else raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.core.errors import UnclearVerdictError
from judges.read_verdict import read_verdict

CORRECT = [
    "correct",
    "Correct",
    "CORRECT",
    "Correct.",
    "Correct!",
    " \n correct\n\n",
    "**correct**",
    "**Correct.**",
    "__correct__",
    "`correct`",
    '"correct"',
    '"Correct."',
    '"correct".',
    "'correct'",
    "“correct”",
    "(correct)",
    "[correct]",
    "> correct",
    "# Correct",
    "Verdict: correct",
    "verdict: correct.",
    "**Verdict:** correct",
    "**Verdict**: **correct**",
    "Verdict = correct",
    "Final verdict: correct",
    "The verdict is correct.",
    "My final verdict is correct",
    "Judgement: correct",
    "Judgment: correct",
    "Grade: CORRECT",
    "Label: correct",
    "The answer is correct.",
    "The prediction is correct.",
    "Verdict:\ncorrect",
    '{"verdict": "correct"}',
    '{"verdict": "Correct."}',
    '{"Verdict": "CORRECT"}',
    '{"verdict": "correct", "reason": "it is not incorrect"}',
    '{"reason": "same city", "label": "correct"}',
    '```json\n{"verdict": "correct"}\n```',
    "```\ncorrect\n```",
]

UNCLEAR = [
    "",
    " \n\t",
    "not correct",
    "Not incorrect.",
    "It is not correct.",
    "The prediction is not correct.",
    "Verdict: not correct",
    "correct or incorrect",
    "correct/incorrect",
    "Correct. Incorrect.",
    "correct\nincorrect",
    "incorrect, no wait, correct",
    "correct?",
    "Correct...?",
    "Probably correct",
    "mostly correct",
    "partially correct",
    "Almost correct.",
    "correct, but only partly",
    "Correct, because both name Paris.",
    "I think it is correct",
    "incorrectly spelt but correct",
    "correctness",
    "in correct",
    "in-correct",
    "un­correct",
    "yes",
    "true",
    "1",
    "right",
    "wrong",
    "Verdict:",
    "verdict correct incorrect",
    "I cannot grade this.",
    "c o r r e c t",
    "correct correct",
    "{}",
    "{correct}",
    "[]",
    "{",
    '{"verdict": }',
    '{"verdict": true}',
    '{"verdict": null}',
    '{"verdict": ["correct"]}',
    '{"verdict": "not correct"}',
    '{"verdict": "correct or incorrect"}',
    '{"verdict": "correct", "verdict": "incorrect"}',
    '{"verdict": "correct", "label": "incorrect"}',
    '{"correct": true}',
    '{"answer": "correct"}',
    '{"verdict": {"verdict": "correct"}}',
    '{"verdict": "correct"} or {"verdict": "incorrect"}',
    "```json\ncorrect\n``` no, incorrect",
    "{" * 100_000,
    '{"verdict": ' * 5_000,
    "correct" + " " * 10_000 + "x",
    "Reply with exactly one word: correct or incorrect.",
]


@pytest.mark.parametrize("reply", CORRECT)
def test_a_reply_that_consists_of_the_verdict_is_read(reply: str) -> None:
    assert read_verdict(reply) == "correct"


@pytest.mark.parametrize("reply", [text for text in CORRECT if "not incorrect" not in text])
def test_the_same_forms_hold_the_other_verdict(reply: str) -> None:
    swapped = reply.replace("correct", "incorrect").replace("Correct", "Incorrect")
    assert read_verdict(swapped.replace("CORRECT", "INCORRECT")) == "incorrect"


@pytest.mark.parametrize("reply", UNCLEAR, ids=lambda reply: repr(reply[:40]))
def test_a_reply_without_one_clear_verdict_raises(reply: str) -> None:
    with pytest.raises(UnclearVerdictError, match="no clear verdict"):
        read_verdict(reply)


@given(st.text())
def test_any_text_gives_a_verdict_or_the_one_error(text: str) -> None:
    try:
        verdict = read_verdict(text)
    except UnclearVerdictError:
        return
    assert verdict in text.lower()


@given(st.sampled_from(["not", "un", "hardly", "either"]), st.sampled_from(["correct", "incorrect"]))
def test_a_word_in_front_of_a_verdict_makes_it_unclear(word: str, verdict: str) -> None:
    for reply in (f"{word} {verdict}", f"{verdict} {word}", f"Verdict: {word} {verdict}"):
        with pytest.raises(UnclearVerdictError):
            read_verdict(reply)


def test_a_long_reply_is_quoted_in_short() -> None:
    with pytest.raises(UnclearVerdictError) as caught:
        read_verdict("word " * 1_000)
    assert len(str(caught.value)) < 200
