"""Entities by rule: each documented choice, and the laws of any extractor."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.evidence.entities.by_rule import entities
from evaluator.evidence.normalise import fold


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Capitalised spans and what joins them.
        ("he met Barack Obama there", ["Barack Obama"]),
        ("the University of Oxford in England", ["University of Oxford", "England"]),
        ("songs by Ludwig van Beethoven of old", ["Ludwig van Beethoven"]),
        ("it was AT&T & Verizon", ["AT&T & Verizon"]),
        ("between Paris and London", ["Paris", "London"]),
        ("she left Washington, D.C. then", ["Washington", "D.C."]),
        ("the writer J.K. Rowling", ["J.K. Rowling"]),
        ("with Jean-Luc Godard", ["Jean-Luc Godard"]),
        ("when Dr. Watson spoke", ["Dr. Watson"]),
        ("an iPhone by Apple", ["iPhone", "Apple"]),
        ("der Straße Ägir nach", ["Straße Ägir"]),
        # Possessives and pronouns.
        ("who is Obama's wife", ["Obama"]),
        ("the film Schindler's List", ["Schindler's List"]),
        ("so I think I'm right", []),
        # The start of a sentence.
        ("Which of the Beatles was born first?", ["Beatles"]),
        ("Were Ed Wood and Tim Burton of one country?", ["Ed Wood", "Tim Burton"]),
        ("It rained. Where was Chopin born?", ["Chopin"]),
        ("Chopin was born where?", ["Chopin"]),
        ("In what year did the Titanic sink?", ["Titanic"]),
        ("the band The Who played", ["Who"]),
        ("he lives in The Hague", ["Hague"]),
        ("The Van cat has eyes", ["Van"]),
        ("The Who", []),
        # Numbers and dates.
        ("born on 9 October 1940 there", ["9 October 1940"]),
        ("born October 9, 1940 there", ["October 9, 1940"]),
        ("in March 1999 and May", ["March 1999", "May"]),
        ("the 19th of the 1990s", ["19th", "1990s"]),
        ("the season 2002–03, with 1,250.5 points.", ["2002–03", "1,250.5"]),
        ("Apollo 11 landed", ["Apollo", "11"]),
        # Quoted titles.
        ('who sang "let it be" live', ["let it be"]),
        ("who sang “let it be” live", ["let it be"]),
        ("the ``Baby Dream Team '' of old", ["Baby Dream Team"]),
        (
            'he said "that nobody knows why Paris is the capital of it all" then',
            ["Paris"],
        ),
        # Distinct, the first form kept.
        ("in Paris, in PARIS, in Lyon", ["Paris", "Lyon"]),
        ("chopin", []),
        ("", []),
        ("北京在哪里", []),
    ],
)
def test_entities_of(text: str, expected: list[str]) -> None:
    assert list(entities(text)) == expected


@given(st.text(max_size=200) | st.text(st.sampled_from("Aa ’'.,-1\"“” \n"), max_size=60))
def test_entities_are_distinct_and_stand_in_the_text(text: str) -> None:
    found = entities(text)
    folded = [fold(entity) for entity in found]
    assert len(set(folded)) == len(folded)
    assert all(folded)
    assert all(entity in text for entity in found)


def test_nearly_every_real_question_has_an_entity(shared_data: Path) -> None:
    questions = [record["question"] for record in json.loads((shared_data / "hotpotqa.json").read_bytes())]
    without = [question for question in questions if not entities(question)]
    assert len(without) / len(questions) < 0.02
