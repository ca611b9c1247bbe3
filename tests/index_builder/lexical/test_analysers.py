"""What each analyser makes of text, worked out by hand."""

from math import inf

import pytest

from index_builder.errors import InputError
from index_builder.lexical.analysers import (
    ANALYSERS,
    DEFAULT_ANALYSER,
    EVERY_WORD,
    SNOWBALL_STOP_WORDS,
    analysers_of,
    check_analyser,
    common_above,
)

SENTENCE = "Who, then, weren't the Engines DESIGNED for? He flies: Ötztal-Bahn 1912, naïve 東京!"
PLAIN = "who then weren t the engines designed for he flies ötztal bahn 1912 naïve 東京"


def terms(analyser: str, text: str) -> str:
    return " ".join(analysers_of(analyser)[analyser].analyze(text))


def test_plain_splits_and_lowers_case() -> None:
    assert terms("plain", SENTENCE) == PLAIN


def test_english_drops_lucenes_stop_words_and_stems() -> None:
    # "then", "the" and "for" are of the 33; "who", "he" and the halves of "weren't" are not.
    assert terms("english", SENTENCE) == "who weren t engin design he fli ötztal bahn 1912 naïv 東京"


def test_english_broad_drops_question_words_pronouns_and_ends_of_contractions_too() -> None:
    assert terms("english-broad", SENTENCE) == "weren engin design fli ötztal bahn 1912 naïv 東京"


def test_stop_words_are_dropped_before_stemming_and_names_that_stem_to_one_are_not() -> None:
    # "Wills" and "thing" would be dropped had they been stemmed first: "will" is of the 33.
    assert terms("english", "will Wills") == "will"


def test_the_broad_list_holds_every_question_word_and_no_head_of_a_contraction() -> None:
    words = SNOWBALL_STOP_WORDS.split()
    assert {"what", "which", "who", "whom", "when", "where", "why", "how"} <= set(words)
    assert {"don", "won", "shan", "isn"}.isdisjoint(words)
    # 174 words are published; 50 of them are contractions, of which the 7 endings are taken.
    assert len(words) == len(set(words)) == 174 - 50 + 7


@pytest.mark.parametrize("analyser", ANALYSERS)
def test_a_word_of_up_to_a_thousand_bytes_is_kept(analyser: str) -> None:
    longest = "zorb" * 250
    assert terms(analyser, f"brax {longest} {longest}z flod") == f"brax {longest} flod"


def test_only_what_drops_words_keeps_every_word_apart() -> None:
    assert {name: list(analysers_of(name)) for name in ANALYSERS} == {
        "plain": ["plain"],
        "english": ["english", EVERY_WORD],
        "english-broad": ["english-broad", EVERY_WORD],
    }
    assert " ".join(analysers_of("english-broad")[EVERY_WORD].analyze(SENTENCE)) == PLAIN


def test_a_word_is_common_above_a_tenth_of_many_passages_for_english_broad_alone() -> None:
    sizes = (0, 99_999, 100_000, 1_000_000)
    assert [common_above("english-broad", size) for size in sizes] == [10_000, 10_000, 10_000, 100_000]
    assert {common_above(name, 1_000_000) for name in ("plain", "english")} == {inf}


def test_an_unknown_analyser_is_refused_with_the_names_of_the_known() -> None:
    for use in (check_analyser, analysers_of):
        with pytest.raises(InputError, match="'klingon'; known: plain, english, english-broad"):
            use("klingon")


def test_the_default_is_one_of_them() -> None:
    check_analyser(DEFAULT_ANALYSER)
