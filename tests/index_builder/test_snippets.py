"""Snippets stay within budget, never show a whole longer chunk, and cut where a reader would."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.errors import InputError
from index_builder.snippets import lead, make_snippeter


@given(st.text(), st.integers(1, 60))
def test_a_longer_text_is_shown_in_part_and_within_the_budget(text: str, budget: int) -> None:
    shown = lead(text, budget)
    content = text.strip()
    assert len(shown) <= budget
    if len(content) <= budget:
        assert shown == content
    else:
        assert shown.endswith("…")
        assert content.startswith(shown[:-1])
        assert len(shown) - 1 < len(content)


@given(st.text(alphabet="ae\u0301\u0308\u200d👨🏽👧🇩🇪🇫ᄀ각ᅡᆨक्ष \r\n", max_size=60), st.integers(1, 30))
def test_no_cut_leaves_a_mark_without_its_letter(text: str, budget: int) -> None:
    content = text.strip()
    shown = lead(text, budget)
    rest = content[len(shown[:-1]) :] if len(content) > budget else ""
    if rest and len(shown) > 1:
        assert not unicodedata.category(rest[0]).startswith("M")
        assert rest[0] not in "\u200d🏽ᅡᆨ"
        # A joiner joins nothing to a space.
        assert rest[0].isspace() or not shown[:-1].endswith("\u200d")


def test_the_cut_falls_between_two_words() -> None:
    # 19 characters of room for "one two three four fi": the last space within it is at 18.
    assert lead("one two three four five six", 20) == "one two three four…"


def test_a_word_that_ends_exactly_at_the_room_is_kept_whole() -> None:
    assert lead("abcd efgh ijkl", 10) == "abcd efgh…"


def test_scripts_without_spaces_are_cut_at_the_budget() -> None:
    assert lead("東京都は日本の首都である", 6) == "東京都は日…"


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301",
        "👨\u200d👩\u200d👧",
        "👋🏽",
        "🇩🇪",
        "각",
        "क्ष",
        "\u2764\ufe0f",
        "🏴\U000e0067\U000e0062\U000e007f",
    ],
)
def test_a_character_as_readers_see_it_is_never_split(whole: str) -> None:
    text = "xy" + whole + "z" * 40
    allowed = {"x…", "xy…", *("xy" + whole + "z" * count + "…" for count in range(9))}
    for budget in range(2, 12):
        assert lead(text, budget) in allowed | {"…"}


def test_flags_are_cut_between_and_not_inside() -> None:
    assert lead("🇩🇪🇫🇷🇮🇹🇪🇸", 6) == "🇩🇪🇫🇷…"


def test_korean_syllables_without_spaces_can_be_parted() -> None:
    assert lead("대한민국서울특별시", 5) == "대한민국…"


def test_white_space_does_not_count_as_content() -> None:
    assert lead("  short  " + " " * 300, 10) == "short"


def test_a_budget_of_one_shows_only_that_there_is_more() -> None:
    assert lead("long", 1) == "…"


def test_the_setting_names_the_budget() -> None:
    assert make_snippeter("lead:5")("any query", "abcdefgh") == "abcd…"


@pytest.mark.parametrize("spec", ["", "lead", "lead:0", "lead:-1", "lead:x", "tail:9", "lead:5 "])
def test_any_other_setting_is_refused_with_an_example(spec: str) -> None:
    with pytest.raises(InputError, match="lead:200"):
        make_snippeter(spec)
