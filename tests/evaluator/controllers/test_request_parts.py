"""Where a request began to differ: told from a few digits a message."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.controllers.request_parts import checksums, first_difference


def body(*texts: str, model: str = "m", seed: int = 1) -> bytes:
    messages = [{"role": "user", "content": text} for text in texts]
    return orjson.dumps({"model": model, "messages": messages, "seed": seed})


def test_a_request_has_eight_digits_for_its_head_and_eight_a_message() -> None:
    assert len(checksums(body("a", "b"))) == 3 * 8
    assert checksums(body("a", "b"))[:16] == checksums(body("a", "c"))[:16]


@pytest.mark.parametrize(
    ("other", "where"),
    [
        (body("a", "c", model="n"), "before the first message, within 26 bytes from byte 0"),
        (
            body("a", "B"),
            'in message 2, within 32 bytes from byte 63 of 95: "user","content":"B"}],"seed":1}',
        ),
        (body("a", "b", seed=2), "in message 2"),
        (body("a", "b", "c"), "in message 2"),  # its part ends in what follows: a bracket or a comma
    ],
    ids=["head", "message", "tail", "longer"],
)
def test_the_first_part_that_differs_is_named_and_shown(other: bytes, where: str) -> None:
    assert where in first_difference(checksums(body("a", "b")), other)


def test_parts_that_are_missing_or_too_many_are_told() -> None:
    both = body("a", "b")
    assert "message 2 was not there" in first_difference(checksums(both)[:-8], both)
    assert "4 parts were recorded and it has 3" in first_difference(checksums(both) + "0" * 8, both)
    assert first_difference("", both) == "somewhere in its 95 bytes"


def test_a_long_part_is_shown_by_its_ends() -> None:
    told = first_difference(checksums(body("x" * 500)), body("y" * 500))
    assert "yyy … yyy" in told
    assert len(told) < 250


@given(st.lists(st.text(), min_size=1, max_size=5), st.data())
def test_no_text_of_a_message_is_taken_for_the_start_of_another(
    texts: list[str], data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(texts) - 1))
    texts = [f'{text}"role":' for text in texts]
    other = [*texts[:position], f"{texts[position]}!", *texts[position + 1 :]]
    assert len(checksums(body(*texts))) == 8 * (len(texts) + 1)
    assert f"in message {position + 1}, " in first_difference(checksums(body(*texts)), body(*other))
