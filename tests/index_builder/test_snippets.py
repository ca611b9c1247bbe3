"""Snippets stay within budget, never show a whole longer chunk, and cut where a reader would."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_builder.errors import InputError
from index_builder.sentences import sentences
from index_builder.snippets import best_sentences, lead, make_snippeter


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
    assert make_snippeter("best-sentences:9")("is B here", "A there. B here.") == "… B here."


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "lead",
        "lead:0",
        "lead:-1",
        "lead:x",
        "tail:9",
        "lead:5 ",
        "best-sentences",
        "best-sentences:0",
        "lead:02",
    ],
)
def test_any_other_setting_is_refused_with_the_known_forms_and_an_example(spec: str) -> None:
    with pytest.raises(InputError, match=r'known: "lead:N" and "best-sentences:N".* such as "lead:200"'):
        make_snippeter(spec)


LIFE = (
    "Ada Lovelace was born in London. Her father was a poet. She met Charles Babbage in 1833. "
    "He showed her an engine. The engine was never finished."
)


@pytest.mark.parametrize(
    ("budget", "shown"),
    [
        # Distinct words shared with "Was Babbage's engine finished?": 1 in the third sentence, 1 in the
        # fourth, 2 in the last. The last is taken first, then the third, then the fourth.
        (40, "… The engine was never finished."),
        (70, "… She met Charles Babbage in 1833. … The engine was never finished."),
        (90, "… She met Charles Babbage in 1833. He showed her an engine. The engine was never finished."),
        # The fourth is the next best that fits.
        (66, "… He showed her an engine. The engine was never finished."),
    ],
)
def test_sentences_are_taken_best_first_while_they_fit_and_shown_in_the_order_of_the_text(
    budget: int, shown: str
) -> None:
    assert best_sentences("Was Babbage's engine finished?", LIFE, budget) == shown


def test_among_sentences_that_share_as_many_words_the_earlier_is_taken() -> None:
    assert best_sentences("engine", "An engine ran. One engine stood. No engine.", 20) == "An engine ran. …"


def test_without_a_word_in_common_the_first_sentences_are_shown() -> None:
    first_two = "Ada Lovelace was born in London. Her father was a poet. …"
    assert best_sentences("xyz", LIFE, 60) == first_two
    assert best_sentences("", LIFE, 60) == first_two


def test_stop_words_count_only_where_a_query_has_no_others() -> None:
    assert best_sentences("the sun", "The dog, the cat, the cow. A sun rose.", 20) == "… A sun rose."
    assert best_sentences("Not the?", "A sun rose. Not the cat. It set.", 20) == "… Not the cat. …"


def test_a_word_within_another_is_not_that_word() -> None:
    assert best_sentences("art", "A cart started it. Heart. The art of war.", 17) == "… The art of war."
    assert best_sentences("STRASSE", "Strassen here. Die Straße da.", 20) == "… Die Straße da."


def test_words_of_scripts_without_spaces_are_their_characters() -> None:
    assert (
        best_sentences("首都", "犬がいる。東京は日本の首都である。猫もいる。", 18)
        == "… 東京は日本の首都である。 …"
    )


def test_the_beginning_of_the_best_sentence_is_shown_where_it_does_not_fit() -> None:
    assert best_sentences("engine finished", LIFE, 20) == "… The engine was…"
    assert best_sentences("Ada", LIFE, 20) == "Ada Lovelace was…"
    assert best_sentences("engine finished", LIFE, 3) == "…"


def test_a_query_of_ten_thousand_words_counts_by_its_first_ones() -> None:
    query = " ".join(f"w{n}" for n in range(10_000))
    assert best_sentences(query, "Here is w9999 w9998. Here is w0.", 20) == "… Here is w0."


TEXTS = st.text(alphabet='abc. !?\n。…\u0301\u200d👨🏽🇩🇪 É"”ﬁ', max_size=80)


@given(TEXTS | st.text(), st.text(alphabet="abcÉ ", max_size=8), st.integers(1, 60))
def test_best_sentences_show_parts_of_the_text_in_its_order_within_the_budget(
    text: str, query: str, budget: int
) -> None:
    content = text.strip()
    shown = best_sentences(query, text, budget)
    assert len(shown) <= budget
    if len(content) <= budget:
        assert shown == content
        return
    assert "…" in shown
    at = 0
    for part in shown.split("…"):
        found = content.replace("…", "\0").find(part.strip(), at)
        assert found >= 0
        at = found + len(part.strip())


@given(st.text(alphabet="ab.\u0301\u0308🏽\u200d ", max_size=60), st.integers(4, 30))
def test_no_sentence_that_is_shown_begins_or_ends_inside_a_character(text: str, budget: int) -> None:
    for start, end in sentences(text):
        for at in (start, end):
            before, after = text[at - 1 : at], text[at : at + 1]
            if before and after and not before.isspace():
                assert not unicodedata.category(after).startswith("M")
                assert after not in "🏽\u200d"
    assert len(best_sentences("a", text, budget)) <= budget


def test_on_real_passages_a_snippet_answers_the_query_where_a_lead_does_not(shared_data: Path) -> None:
    entry = json.loads((shared_data / "musique.jsonl").read_text(encoding="utf-8").splitlines()[0])
    text = max((passage["paragraph_text"] for passage in entry["paragraphs"]), key=len)
    spans = list(sentences(text))
    last = text[slice(*spans[-1])]
    assert last[:20] not in lead(text, 200)
    assert last[:20] in best_sentences(last, text, 200)
