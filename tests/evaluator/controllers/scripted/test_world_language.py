"""Tests of the world's language read backwards: what its tables write is what is read out of it."""

import pytest

from evaluator.controllers.scripted.world_language import (
    Chain,
    Inquiry,
    Statement,
    bare,
    inquiry,
    magnitude,
    statements,
    value_kinds,
    wordings,
)
from index_builder.datasets.world.facts import SIGNATURES
from index_builder.datasets.world.pages import DECOYS, FILLERS, INTROS, PRONOUNS, RELATIONS
from index_builder.datasets.world.questions import (
    ASKS,
    BRIDGE_COMPARISONS,
    COMPARISONS,
    INFERENCES,
    NAMED,
    PHRASES,
    Comparison,
)

VALUES = {"date": "14 March 1931", "year": "1931", "number": "12,480", "country": "Oressa"}


def _value(relation: str) -> str:
    return VALUES.get(SIGNATURES[relation][1], "Mira Voss (painter)")


EVERY_SENTENCE = [
    (relation, template, table is RELATIONS)
    for table in (RELATIONS, DECOYS)
    for relation, templates in table.items()
    for template in templates
]


@pytest.mark.parametrize(("relation", "template", "stated"), EVERY_SENTENCE)
def test_every_sentence_of_a_page_is_read_as_what_it_states(
    relation: str, template: str, *, stated: bool
) -> None:
    sentence = template.format(subject="Ilo Tarn", object=_value(relation))
    read = statements("Ilo Tarn (chemist)", f"Ilo Tarn kept bees. {sentence} It rained.")
    assert read == (Statement("Ilo Tarn", relation, _value(relation), stated),)


@pytest.mark.parametrize("kind", PRONOUNS)
def test_a_pronoun_stands_for_what_the_page_is_about(kind: str) -> None:
    relation = next(relation for relation, (kinds, _) in SIGNATURES.items() if kind in kinds)
    template = next(t for t in RELATIONS[relation] if t.startswith("{subject}"))
    for pronoun in PRONOUNS[kind]:
        text = template.format(subject=pronoun, object=_value(relation))
        assert statements("Tarn", text) == (Statement("Tarn", relation, _value(relation), stated=True),)


def test_in_a_text_without_a_title_a_pronoun_stands_for_the_one_named_last() -> None:
    text = "Ilo Tarn was born on 14 March 1931. He worked for Brell Works. Ada Orr was born in Oxley."
    assert [(s.subject, s.relation) for s in statements("", text)] == [
        ("Ilo Tarn", "date_of_birth"),
        ("Ilo Tarn", "employer"),
        ("Ada Orr", "place_of_birth"),
    ]


def test_a_pronoun_that_points_at_nothing_names_no_subject() -> None:
    assert statements("", "He worked for Brell Works.")[0].subject == ""


def test_sentences_that_state_nothing_are_passed_over() -> None:
    said = [*INTROS.values(), *FILLERS.values()]
    text = " ".join(t.format(subject="Ilo Tarn", detail="a chemist") for templates in said for t in templates)
    assert statements("Ilo Tarn", text) == ()


def test_a_sentence_about_another_name_is_not_taken_for_the_page() -> None:
    assert statements("Ilo Tarn", "Ada Orr was born on 14 March 1931.") == ()


def test_a_value_of_the_wrong_form_or_a_sentence_cut_short_states_nothing() -> None:
    assert statements("Ilo Tarn", "Ilo Tarn was born on some day.") == ()
    assert statements("Ilo Tarn", "Ilo Tarn was born on 14 March 19") == ()


def _phrase(relation: str, kind: str) -> tuple[str, Chain]:
    """A noun phrase for something of a kind that a relation can be followed from, with its reading."""
    named = NAMED[kind].format(name="Tarn Vell (old)")
    return named, Chain("Tarn Vell (old)", (relation,))


@pytest.mark.parametrize(("relation", "template"), [(r, t) for r, ts in ASKS.items() for t in ts])
def test_every_question_about_a_name_is_one_relation_of_it(relation: str, template: str) -> None:
    for kind in SIGNATURES[relation][0]:
        named, chain = _phrase(relation, kind)
        assert inquiry(template.format(x=named)) == Inquiry((chain,), "object")


@pytest.mark.parametrize(("relation", "template"), [(r, t) for r, ts in PHRASES.items() for t in ts])
def test_every_phrase_set_into_every_fitting_question_is_a_chain(relation: str, template: str) -> None:
    kinds, value_kind = SIGNATURES[relation.removeprefix("~")]
    starts, end = ((value_kind,), kinds[0]) if relation.startswith("~") else (kinds, value_kind)
    for kind in starts:
        phrase = template.format(x=_phrase(relation, kind)[0])
        for ask, questions in ASKS.items():
            if end in SIGNATURES[ask][0]:
                for question in questions:
                    chain = Chain("Tarn Vell (old)", (relation, ask))
                    assert inquiry(question.format(x=phrase)) == Inquiry((chain,), "object")


def test_phrases_nest_to_any_depth() -> None:
    question = "When was the founder of the company that employed the director of the film Vell born?"
    assert inquiry(question) == Inquiry(
        (Chain("Vell", ("director", "employer", "founder", "date_of_birth")),), "object"
    )


@pytest.mark.parametrize(("path", "template"), [(p, t) for p, ts in INFERENCES.items() for t in ts])
def test_a_relation_by_inference_is_the_two_it_stands_for(path: tuple[str, str], template: str) -> None:
    assert inquiry(template.format(x="Ilo Tarn")) == Inquiry((Chain("Ilo Tarn", path),), "object")


@pytest.mark.parametrize(
    ("comparison", "template"), [(c, t) for c in (*COMPARISONS, *BRIDGE_COMPARISONS) for t in c.templates]
)
def test_every_comparison_is_two_chains(comparison: Comparison, template: str) -> None:
    chains = Chain("Vell (old)", comparison.path), Chain("Orr", comparison.path)
    assert inquiry(template.format(x="Vell (old)", y="Orr")) == Inquiry(chains, comparison.choose)


@pytest.mark.parametrize(
    "question",
    [
        "Were Scott Derrickson and Ed Wood of the same nationality?",
        "Who founded the weather?",
        "When was the director of the town Vell born?",
        "",
    ],
)
def test_a_question_of_another_language_is_none(question: str) -> None:
    assert inquiry(question) is None


def test_dates_years_and_numbers_are_ordered() -> None:
    ordered = ["14 March 1931", "2 April 1931", "1 January 1932"]
    sizes = [magnitude(value) for value in ordered]
    assert sizes == [(1931, 2, 14), (1931, 3, 2), (1932, 0, 1)]
    assert (magnitude("1931"), magnitude("12,480")) == ((1931,), (12480,))


def test_a_title_is_bared_of_its_last_parenthesis_only() -> None:
    assert bare("Vell (film) (old)") == "Vell (film)"
    assert bare("Vell") == "Vell"


def test_search_words_are_ways_to_state_the_fact_with_its_value_left_out() -> None:
    assert wordings("director", "Vell")[0] == "Vell was directed by"
    assert wordings("~founder", "Ada Orr")[0] == "was founded by Ada Orr"


def test_a_relation_backwards_leads_to_its_subject() -> None:
    assert value_kinds("~founder") == ("company",)
    assert value_kinds("founder") == ("person",)
