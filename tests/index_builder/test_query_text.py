"""Any string becomes a bounded, well-formed query."""

from hypothesis import given
from hypothesis import strategies as st

from index_builder.query_text import MAX_CHARACTERS, query_text, well_formed


@given(st.text(st.characters()))
def test_every_string_becomes_text_that_utf_8_carries(text: str) -> None:
    assert query_text(text).encode().decode() == query_text(text)
    assert len(query_text(text)) <= MAX_CHARACTERS


def test_a_lone_surrogate_is_replaced_and_a_real_emoji_is_kept() -> None:
    assert well_formed("a\ud83d b \U0001f600") == "a\ufffd b \U0001f600"


def test_well_formed_text_is_returned_as_it_is() -> None:
    for text in ("plain", "naïve \u0000 東京"):
        assert well_formed(text) == text


def test_white_space_around_a_query_is_dropped() -> None:
    assert query_text("\n  who?\t\u00a0") == "who?"


def test_a_megabyte_is_cut() -> None:
    assert query_text("x" * 1_000_000) == "x" * MAX_CHARACTERS
