"""What resuming owes, and which of several lines counts."""

from hypothesis import given
from hypothesis import strategies as st

from evaluator.store.owed import Finished, owed, winners


def test_absent_and_failed_trajectories_are_owed_in_the_order_expected() -> None:
    finished = [("b", "answered"), ("c", "failed"), ("x", "answered")]
    assert owed(["a", "b", "c", "d"], finished) == ["a", "c", "d"]


def test_an_abstention_is_finished() -> None:
    assert owed(["a"], [("a", "abstained")]) == []


def test_a_failure_before_or_after_a_success_does_not_make_it_owed() -> None:
    assert owed(["a", "b"], [("a", "failed"), ("a", "answered"), ("b", "answered"), ("b", "failed")]) == []


def test_a_non_failed_line_wins_over_a_later_failed_one() -> None:
    lines = [
        (0, Finished("a", "failed", "2026-01-01T00:00:00Z")),
        (1, Finished("a", "answered", "2026-01-01T00:00:01Z")),
        (2, Finished("a", "failed", "2026-01-01T00:00:02Z")),
    ]
    assert winners(lines) == {"a": 1}


def test_of_two_failed_lines_the_later_start_wins_whatever_their_order() -> None:
    lines = [
        (0, Finished("a", "failed", "2026-01-01T00:00:05Z")),
        (1, Finished("a", "failed", "2026-01-01T00:00:01Z")),
    ]
    assert winners(lines) == {"a": 0}


ids = st.sampled_from("abcdef")
kinds = st.sampled_from(["answered", "abstained", "failed"])


@given(st.lists(st.tuples(ids, kinds)))
def test_what_is_owed_and_what_is_done_add_up_to_what_is_expected(lines: list[tuple[str, str]]) -> None:
    expected = list("abcdef")
    done = {each for each, kind in lines if kind != "failed"}
    assert sorted([*owed(expected, lines), *done]) == expected


@given(st.lists(st.tuples(ids, kinds, st.sampled_from("123"))))
def test_a_winner_is_failed_only_when_all_its_lines_are(lines: list[tuple[str, str, str]]) -> None:
    numbered = [(n, Finished(*line)) for n, line in enumerate(lines)]
    for each, key in winners(numbered).items():
        mine = [line for _, line in numbered if line.trajectory_id == each]
        winner = numbered[key][1]
        assert (winner.kind == "failed") == all(line.kind == "failed" for line in mine)
        rivals = [line for line in mine if (line.kind == "failed") == (winner.kind == "failed")]
        assert winner.started_at == max(line.started_at for line in rivals)
