"""Folding answers as SQuAD does, and texts into words."""

import re
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.evidence.normalise import fold, normalise_answer

WORDY = st.lists(st.sampled_from(["the", "The", "a", "an", "U.S.", "x", " ", ",", "'", "-"])).map("".join)


def squad(text: str) -> str:
    """The official SQuAD 1.1 evaluation script's normalisation, as published."""

    def remove_articles(text: str) -> str:
        return re.sub(r"\b(a|an|the)\b", " ", text)

    def remove_punctuation(text: str) -> str:
        exclude = set(string.punctuation)
        return "".join(ch for ch in text if ch not in exclude)

    return " ".join(remove_articles(remove_punctuation(text.lower())).split())


@given(st.text(st.characters(codec="ascii")) | WORDY)
def test_on_ascii_it_is_the_official_squad_normalisation(text: str) -> None:
    assert normalise_answer(text) == squad(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Beatles", "beatles"),
        ("“Ｈａｍｌｅｔ”", "hamlet"),  # full width, typographic quotation marks
        ("Straße", "strasse"),
        ("É", "é"),
        ("1999–2000", "19992000"),  # as SQuAD does with "-"
        ("¿Qué?", "qué"),
        ("$5", "5"),
        ("5 €", "5 €"),  # a symbol, not punctuation, and not ASCII
        ("A theatre an the", "theatre"),
        ("...", ""),
        ("c:\u0327a", "ça"),  # a letter and an accent that punctuation kept apart
    ],
)
def test_width_case_punctuation_and_articles_are_folded(text: str, expected: str) -> None:
    assert normalise_answer(text) == expected


def test_a_gold_that_is_nothing_but_articles_can_keep_them() -> None:
    assert normalise_answer("The A.") == ""
    assert normalise_answer("The A.", drop_articles=False) == "the a"


@given(st.text())
def test_normalising_again_changes_nothing_when_articles_stay(text: str) -> None:
    # With articles dropped it could: "a" may be what is left of "the a", and words may come together.
    once = normalise_answer(text, drop_articles=False)
    assert normalise_answer(once, drop_articles=False) == once


@given(st.text())
def test_case_and_compatibility_forms_never_matter(text: str) -> None:
    for variant in (unicodedata.normalize("NFKC", text), unicodedata.normalize("NFD", text), text.casefold()):
        assert normalise_answer(variant) == normalise_answer(text)
        assert fold(variant) == fold(text)


@given(st.text())
def test_folding_is_replacing_what_is_no_letter_or_digit_by_one_space(text: str) -> None:
    cased = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    assert fold(text) == " ".join("".join(c if c.isalnum() else " " for c in cased).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Chopin's études — No. 3!", "chopin s études no 3"),
        ("U.S.", "u s"),
        ("snake_case", "snake case"),
        ("ﬁne ² ｆｏｏ", "fine 2 foo"),
        ("北京 2008年", "北京 2008年"),
        ("\ud800x", "x"),  # a lone surrogate is no letter
        ("", ""),
    ],
)
def test_a_fold_keeps_words_between_single_spaces(text: str, expected: str) -> None:
    assert fold(text) == expected
