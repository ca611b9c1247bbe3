"""Tests of working out an answer from shown text."""

from typing import Literal

import pytest

from evaluator.controllers.scripted.conversation import Source
from evaluator.controllers.scripted.extract import Finding, Need, find, is_about

FILM = "Vell (film)"
CHAIN = f"When was the director of the film {FILM} born?"


def _source(title: str, text: str, kind: Literal["snippet", "read", "told"] = "snippet") -> Source:
    return Source(kind, title, title, text)


VELL = _source(FILM, "Vell was directed by Ada Orr.")
ORR = _source("Ada Orr", "Ada Orr was born on 14 March 1931.")


def test_a_chain_is_followed_hop_by_hop_over_what_texts_state() -> None:
    assert find(CHAIN, [VELL, ORR]) == Finding("14 March 1931")


def test_the_first_fact_that_no_text_states_is_named() -> None:
    assert find(CHAIN, []) == Finding("", (Need(FILM, "director"),))
    assert find(CHAIN, [VELL]) == Finding("", (Need("Ada Orr", "date_of_birth"),))


def test_another_fact_in_the_text_gives_another_answer() -> None:
    changed = _source("Ada Orr", "Ada Orr was born on 2 May 1940.")
    assert find(CHAIN, [VELL, changed]).answer == "2 May 1940"


def test_a_relation_followed_backwards_ends_at_the_full_title_of_its_subject() -> None:
    question = "In which town is the company that was founded by Ada Orr based?"
    company = _source("Brell (mill)", "Brell was founded by Ada Orr. Brell is based in Oxley.")
    assert find(question, []).needs == (Need("Ada Orr", "~founder"),)
    assert find(question, []).needs[0].is_backwards
    assert find(question, [company]).answer == "Oxley"


def test_text_that_was_read_or_told_outweighs_a_snippet() -> None:
    snippet = _source(FILM, "Vell was directed by Ilo Tarn.")
    for kind in ("read", "told"):
        full = _source(FILM, "Vell was directed by Ada Orr.", kind)
        assert find(f"Who directed the film {FILM}?", [snippet, full]).answer == "Ada Orr"
        assert find(f"Who directed the film {FILM}?", [full, snippet]).answer == "Ada Orr"


def test_among_equals_the_page_of_the_whole_title_outweighs_a_namesake_and_the_first_comes_first() -> None:
    namesake = _source("Vell (novel)", "Vell was directed by Ilo Tarn.")
    question = f"Who directed the film {FILM}?"
    assert find(question, [namesake, VELL]).answer == "Ada Orr"
    assert find(question, [_source(FILM, "Vell was directed by Bo Lund."), VELL]).answer == "Bo Lund"


def test_a_namesake_that_was_read_leads_astray() -> None:
    namesake = _source("Vell (novel)", "Vell was directed by Ilo Tarn.", "read")
    assert find(f"Who directed the film {FILM}?", [VELL, namesake]).answer == "Ilo Tarn"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who was born first, Ada Orr or Ilo Tarn?", "Ada Orr"),
        ("Who was born later, Ada Orr or Ilo Tarn?", "Ilo Tarn"),
        ("Who was born first, Ilo Tarn or Ada Orr?", "Ada Orr"),
        ("Were Ada Orr and Ilo Tarn born in the same town?", "yes"),
        ("Were Ada Orr and Bo Lund born in the same town?", "no"),
        ("Who was born later, Ada Orr or Bo Lund?", ""),
    ],
)
def test_comparisons_weigh_the_ends_of_two_chains(question: str, answer: str) -> None:
    texts = [
        _source("Ada Orr", "Ada Orr was born on 14 March 1931. She was born in Oxley."),
        _source("Ilo Tarn", "Ilo Tarn was a native of Oxley. He was born on 1 January 1932."),
        _source("Bo Lund", "Bo Lund was born in Brell."),
    ]
    assert find(question, texts).answer == answer


def test_both_chains_of_a_comparison_name_what_they_lack() -> None:
    finding = find("Who was born first, Ada Orr or Ilo Tarn?", [])
    assert finding.needs == (Need("Ada Orr", "date_of_birth"), Need("Ilo Tarn", "date_of_birth"))


BIRTH = Need("Ada Orr", "date_of_birth")


@pytest.mark.parametrize(
    ("texts", "guess"),
    [
        (["A baptism of Ada Orr is entered under 3 May 1931."], "3 May 1931"),
        (["One almanac misprints the birthday as 3 May 1931."], "3 May 1931"),
        (["Ada Orr worked for Brell."], ""),
    ],
)
def test_a_guess_is_the_best_value_of_the_right_type_on_the_page(texts: list[str], guess: str) -> None:
    sources = [_source("Ada Orr", text) for text in texts]
    assert find("When was Ada Orr born?", sources).answer == ""
    assert find("When was Ada Orr born?", sources, {BIRTH}).answer == guess


def test_a_guess_prefers_what_sounds_like_the_fact_then_the_page_then_what_was_seen_first() -> None:
    mother = Need("Ada Orr", "mother")
    question = "Who is the mother of Ada Orr?"
    elsewhere = _source("Ilo Tarn", "Ilo Tarn was married to Eva Rask.")
    later = _source("Bo Lund", "Bo Lund was married to Cy Dahl.")
    page = _source("Ada Orr", "Ada Orr was married to Ilo Tarn.")
    alike = _source("Ada Orr", "Ada Orr was brought up partly by a neighbour, Una Holm.")
    assert find(question, [elsewhere, later], {mother}).answer == "Eva Rask"
    assert find(question, [elsewhere, later, page], {mother}).answer == "Ilo Tarn"
    assert find(question, [elsewhere, later, page, alike], {mother}).answer == "Una Holm"


def test_a_guess_backwards_is_a_page_of_the_right_kind() -> None:
    question = "In which town is the company that was founded by Ada Orr based?"
    company = _source("Brell", "Brell is based in Oxley.")
    assert find(question, [company], {Need("Ada Orr", "~founder")}).answer == "Oxley"


def test_a_guess_is_never_the_entity_itself() -> None:
    page = _source("Bo Lund", "Bo Lund was married to Ada Orr.")
    guessed = find("Who is the mother of Ada Orr?", [page], {Need("Ada Orr", "mother")})
    assert guessed.answer == "Bo Lund"


def test_a_guessed_bridge_is_followed_like_a_fact() -> None:
    film = _source(FILM, "Ilo Tarn wrote the screenplay of Vell.")
    finding = find(CHAIN, [film], {Need(FILM, "director")})
    assert finding == Finding("", (Need("Ilo Tarn", "date_of_birth"),))


def test_a_question_of_another_language_goes_to_the_generic_extractor() -> None:
    texts = [_source("Curie", "Curie was born in Warsaw.")]
    assert find("Where was Curie's birth?", texts) == Finding("Warsaw")


def test_a_text_is_about_what_its_title_names_namesakes_included() -> None:
    assert is_about(VELL, "Vell (novel)")
    assert is_about(VELL, "Vell")
    assert not is_about(VELL, "Ada Orr")
    assert not is_about(Source("snippet", "1", "", "Vell"), "Vell")
