"""Tests of the generic extractor."""

import subprocess
import sys

import pytest

from evaluator.controllers.scripted.conversation import Source
from evaluator.controllers.scripted.spans import best_span, kind_of

CURIE = Source(
    "snippet",
    "1",
    "Marie Curie",
    "Marie Curie was a physicist. She was born in Warsaw on 7 November 1867. She won 2 prizes.",
)
BOHR = Source("snippet", "2", "Niels Bohr", "Niels Bohr was a physicist. He was born in Copenhagen in 1885.")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Were Scott Derrickson and Ed Wood of the same nationality?", "yesno"),
        ("Is the Laleli Mosque in Istanbul?", "yesno"),
        ("Was Bohr or Curie a chemist?", "yesno"),
        ("Who was born first, Marie Curie or Niels Bohr?", "choice"),
        ("Are there more people in Rome, Paris or London?", "choice"),
        ("In what year did it open?", "year"),
        ("When was she born?", "date"),
        ("What is the date of birth of the author?", "date"),
        ("How many goals did he score?", "number"),
        ("What number did he wear?", "number"),
        ("Who directed it?", "name"),
    ],
)
def test_the_question_word_tells_the_type_of_answer(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When was the physicist Marie Curie born?", "7 November 1867"),
        ("In what year was Niels Bohr born?", "1885"),
        ("Where was Marie Curie born?", "Warsaw"),
        ("How many prizes has Marie Curie won?", "2"),
        ("Was Marie Curie a physicist?", "yes"),
        ("Was Marie Curie a footballer?", "no"),
    ],
)
def test_the_span_comes_from_the_sentence_that_shares_most_words(question: str, answer: str) -> None:
    assert best_span(question, [BOHR, CURIE]) == answer


def test_a_choice_is_the_option_of_the_best_sentence_and_else_the_first() -> None:
    assert best_span("Who was born in Copenhagen, Marie Curie or Niels Bohr?", [CURIE, BOHR]) == "Niels Bohr"
    assert best_span("Who was tall, Ada Orr or Ilo Tarn?", [CURIE, BOHR]) == "Ada Orr"


def test_a_name_that_stands_in_the_question_is_no_answer() -> None:
    assert best_span("Who was Marie Curie?", [Source("read", "1", "", "Marie Curie was kind.")]) == ""


def test_read_text_outweighs_an_equally_good_snippet() -> None:
    snippet = Source("snippet", "1", "", "The mayor is Ada.")
    read = Source("read", "2", "", "The mayor is Ilo.")
    assert best_span("Who is the mayor?", [snippet, read]) == "Ilo"
    assert best_span("Who is the mayor?", [snippet]) == "Ada"


def test_no_text_gives_no_answer() -> None:
    assert best_span("Who was Marie Curie?", []) == ""
    assert best_span("Was Marie Curie tall?", []) == ""


def test_the_answer_does_not_depend_on_the_hash_seed_of_the_process() -> None:
    program = (
        "import sys; from evaluator.controllers.scripted.spans import best_span;"
        "from evaluator.controllers.scripted.conversation import Source;"
        "texts = [f'Word{i} met Word{i+1} and word{i % 7} at place{i % 5}.' for i in range(40)];"
        "question = 'Who met word1 word2 word3 word4 word5 at place1 place2 place3 Word9?';"
        "sys.stdout.write(best_span(question, [Source('snippet', '', '', t) for t in texts]))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    assert answers != {""}
