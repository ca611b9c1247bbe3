"""Containment of a gold answer: inside words, on their boundaries, with and without yes and no."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.evidence.normalise import normalise_answer
from judges.contain import Boundary, contain, is_yes_no

BOUNDARIES: tuple[Boundary, ...] = ("substring", "token")
BOTH = set(BOUNDARIES)
INSIDE_A_WORD = {"substring"}
NEITHER: set[str] = set()


@pytest.mark.parametrize(
    ("prediction", "gold", "found"),
    [
        ("Paris", "Paris", BOTH),
        ("It is Paris, France.", "paris", BOTH),
        ("The Beatles", "Beatles", BOTH),
        ("Beatles", "The Beatles", BOTH),
        ("U.S.", "US", BOTH),
        ("Parisian", "Paris", INSIDE_A_WORD),
        ("North Carolina", "no", INSIDE_A_WORD),
        ("no", "no", BOTH),
        ("1984", "84", INSIDE_A_WORD),
        ("Rome", "Paris", NEITHER),
        ("Paris", "Paris, France", NEITHER),
        ("", "Paris", NEITHER),
        ("ＰＡＲＩＳ", "paris", BOTH),
        ("STRASSE", "straße", BOTH),
        ("new   york", "New York", BOTH),
        ("New Yorker", "New York", INSIDE_A_WORD),
        ("newyork", "new york", NEITHER),
        ("a \n b", "b", BOTH),
    ],
)
def test_containment_is_of_normalised_texts(prediction: str, gold: str, found: set[str]) -> None:
    assert {each for each in BOUNDARIES if contain(prediction, [gold], boundary=each)} == found


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_gold_that_is_only_an_article_keeps_it(boundary: Boundary) -> None:
    assert contain("The answer is A.", ["A"], boundary=boundary) is True
    assert contain("The The", ["the the"], boundary=boundary) is True
    assert contain("grade B", ["The"], boundary=boundary) is False


def test_a_lone_article_as_gold_shows_why_word_boundaries_matter() -> None:
    assert contain("grade B", ["A"]) is True  # gr-a-de
    assert contain("grade B", ["A"], boundary="token") is False


@pytest.mark.parametrize("gold", ["", "?!", "…", " "])
def test_a_gold_of_nothing_stands_in_nothing(gold: str) -> None:
    assert contain("anything", [gold]) is False
    assert contain("", [gold]) is False
    assert contain("anything", [gold], boundary="token") is False


def test_aliases_count_only_when_asked_for() -> None:
    golds = ["New York City", "NYC", "the Big Apple"]
    assert contain("NYC", golds) is False
    assert contain("NYC", golds, aliases=True) is True
    assert contain("in the big apple!", golds, boundary="token", aliases=True) is True
    assert contain("Boston", golds, aliases=True) is False


@pytest.mark.parametrize("golds", [["yes"], ["No."], ["YES"], ["the yes"], ["no", "never"]])
def test_a_row_whose_gold_is_yes_or_no_can_be_left_without_a_value(golds: list[str]) -> None:
    assert is_yes_no(golds)
    assert contain("yes", golds, yes_no=False) is None


@pytest.mark.parametrize("golds", [["north"], ["Paris", "yes"], ["yes and no"], [""]])
def test_a_row_is_yes_no_by_its_whole_gold_answer_alone(golds: list[str]) -> None:
    assert not is_yes_no(golds)
    assert contain("yes", golds, yes_no=False) is False


def test_without_yes_no_golds_other_rows_keep_their_value() -> None:
    assert contain("Paris", ["Paris"], yes_no=False) is True
    assert contain("Rome", ["Paris"], yes_no=False, boundary="token") is False


@given(prediction=st.text(), gold=st.text(min_size=1))
def test_what_stands_on_word_boundaries_stands_there_as_a_substring(prediction: str, gold: str) -> None:
    assert contain(prediction, [gold]) or not contain(prediction, [gold], boundary="token")


@given(before=st.text(), gold=st.text().filter(normalise_answer), after=st.text())
def test_a_gold_between_spaces_is_always_found(before: str, gold: str, after: str) -> None:
    assert contain(f"{before} {gold} {after}", [gold], boundary="token") is True
