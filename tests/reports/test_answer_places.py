"""Where gold answers stand, and how often snippets do not hold them."""

from evaluator.core.trajectory import Injected, Step
from evaluator.gates.evidence import final_evidence
from reports.answer_places import AnswerFinder, Places, Reach
from tests.reports.tiny_runs import ruled, searched, trajectory_of, was_read


def _places(*steps: Step, answers: tuple[str, ...] = ("Vellmar",)) -> Places:
    trajectory = trajectory_of("none", "q", steps=steps, answers=answers)
    return AnswerFinder().places(trajectory, final_evidence(trajectory.steps, trajectory.outcome))


def test_an_answer_is_found_in_the_text_it_stands_in() -> None:
    assert _places(searched(1, ("g", "born in Vellmar.")), ruled(2)) == Places(snippet=True)
    assert _places(searched(1, ("g", "born")), was_read(2, "g", "in VELLMAR, 1901"), ruled(3)) == Places(
        read=True
    )
    given = Injected(2, "g", "user", '{"text": "in Vellmar"}')
    assert _places(searched(1, ("g", "born")), given, ruled(3)) == Places(injected=True)


def test_text_of_the_reply_that_answers_is_no_evidence_for_it() -> None:
    assert _places(searched(1, ("g", "born")), was_read(2, "g", "in Vellmar"), ruled(2)) == Places()


def test_only_whole_words_count_and_an_articles_absence_does_not() -> None:
    assert _places(was_read(1, "g", "the Vellmarian way"), ruled(2)) == Places()
    assert _places(was_read(1, "g", "of Beatles fame"), ruled(2), answers=("The Beatles",)) == Places(
        read=True
    )


def test_any_alias_will_do() -> None:
    assert _places(was_read(1, "g", "in Old Town"), ruled(2), answers=("Vellmar", "Old Town")).read


def test_yes_and_no_stand_nowhere() -> None:
    assert _places(was_read(1, "g", "yes and no"), ruled(2), answers=("yes",)) == Places()


def _reach(*rows: tuple[tuple[Step, ...], tuple[str, ...] | None]) -> Reach:
    finder = AnswerFinder()
    for number, (steps, gold) in enumerate(rows):
        trajectory = trajectory_of("none", f"q{number}", steps=steps, gold=gold)
        finder.places(trajectory, final_evidence(trajectory.steps, trajectory.outcome))
    return finder.reach()


def test_the_reach_counts_gold_chunks_that_were_shown_and_read_and_hold_the_answer() -> None:
    beyond = (searched(1, ("g", "born")), was_read(2, "g", "in Vellmar"))
    within = (searched(1, ("g", "Vellmar born")), was_read(2, "g", "in Vellmar"))
    unread = (searched(1, ("g", "born")),)
    unshown = (was_read(2, "g", "in Vellmar"),)
    without = (searched(1, ("g", "born")), was_read(2, "g", "nothing"))
    no_gold = (searched(1, ("x", "born")), was_read(2, "x", "in Vellmar"))
    gold = ("g",)
    rows = [(beyond, gold), (within, gold), (unread, gold), (unshown, gold), (without, gold), (no_gold, gold)]
    assert _reach(*rows, (beyond, None)) == Reach(n=2, beyond=1)


def test_one_arm_may_show_what_another_reads_and_a_chunk_counts_once_a_question() -> None:
    finder = AnswerFinder()
    arms: list[tuple[str, list[Step]]] = [
        ("none", [searched(1, ("g", "born"))]),
        ("gate", [searched(1, ("g", "born")), was_read(2, "g", "in Vellmar")]),
        ("more", [was_read(2, "g", "in Vellmar")]),
    ]
    for condition, steps in arms:
        trajectory = trajectory_of(condition, "q", steps=steps)
        finder.places(trajectory, final_evidence(trajectory.steps, trajectory.outcome))
    assert finder.reach() == Reach(n=1, beyond=1)
    assert finder.reach().share == 1.0


def test_where_nothing_was_measured_there_is_no_share() -> None:
    assert AnswerFinder().reach().share is None
