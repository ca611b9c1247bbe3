"""The pairs table on hand-built arms: what is compared, selected, corrected, pooled."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.core.cell import Cell
from evaluator.core.outcome import Failed
from evaluator.core.trajectory import Step, Trajectory
from evaluator.evidence.entities.by_rule import entities
from evaluator.store.run_folder import RunFolder
from reports.frame import read_frame
from reports.statistics.bootstrap import pooled_interval, seed_for
from reports.statistics.intervals import paired_score_interval
from reports.statistics.mcnemar import exact_p, mid_p
from reports.tables.pairs import PairRow, pair_rows
from tests.reports.tiny_runs import (
    ruled,
    searched,
    settings_of,
    trajectory_of,
    verdict_of,
    was_read,
    write_lines,
    write_run,
)

Arms = Mapping[str, str]
"""For each condition, one letter a question: 1 correct, 0 wrong, u unjudged, f failed, - missing.
A capital (C correct, W wrong) has read something, n (wrong) has not even searched; the others
searched and read nothing."""

Steps = Mapping[str, Sequence[Step]]
"""Of every trajectory of a condition."""

PRIMARY = {"baseline": "none", "treatment": "gate", "family": "primary"}


def _rows(
    folder: Path,
    arms: Mapping[str, Arms],
    pairs: Sequence[Mapping[str, str]],
    *,
    repeats: Mapping[str, int] | None = None,
    steps: Steps | None = None,
) -> tuple[PairRow, ...]:
    """The pairs table of datasets, each with its arms."""
    conditions = list(next(iter(arms.values())))
    trajectories: list[Trajectory] = []
    verdicts = []
    expected = {}
    for dataset, outcomes in arms.items():
        for condition, letters in outcomes.items():
            expected[Cell(dataset, condition)] = len(letters)
            for number, letter in enumerate(letters):
                row = trajectory_of(
                    condition,
                    f"q{number}",
                    dataset=dataset,
                    outcome=Failed("model", "x") if letter == "f" else None,
                    reads=int(letter in "CW"),
                    searches=int(letter != "n"),
                    steps=(steps or {}).get(condition, ()),
                )
                trajectories += [] if letter == "-" else [row]
                if letter in "10CWn":
                    verdicts.append(verdict_of(row, "correct" if letter in "1C" else "incorrect"))
    random.Random(1).shuffle(trajectories)
    run = write_run(
        folder,
        settings_of(dict.fromkeys(conditions, "off"), pairs, datasets=list(arms), repeats=repeats),
        expected=expected,
        trajectories=trajectories,
        verdicts=verdicts,
    )
    return pair_rows(read_frame(RunFolder.open(run), entities))


def test_one_dataset_is_worked_out_by_hand(tmp_path: Path) -> None:
    # Both right 1, gained 3, lost 1, both wrong 1; then lost pairs: unjudged, failed over unjudged, missing.
    row = _rows(tmp_path / "r", {"a": {"none": "100010u1-", "gate": "1111001f0"}}, [PRIMARY])[0]
    assert (row.n, row.gained, row.lost, row.delta) == (6, 3, 1, 2 / 6)
    assert (row.acc_baseline, row.acc_treatment) == (2 / 6, 4 / 6)
    account = row.n_expected, row.n_not_selected, row.n_unjudged, row.n_failed, row.n_missing
    assert account == (9, 0, 1, 1, 1)
    assert (row.ci_low, row.ci_high) == paired_score_interval(3, 1, 6)
    # 3 of 4 or more extreme in either direction: (1 + 4) · 2 / 16.
    assert row.mcnemar_p == pytest.approx(10 / 16)
    assert row.mcnemar_mid_p == pytest.approx(mid_p(3, 1))
    assert row.detectable == pytest.approx(min(1.0, 2.8 * (4 / 6 / 6) ** 0.5))


def test_of_two_reasons_the_graver_loses_the_pair(tmp_path: Path) -> None:
    row = _rows(tmp_path / "r", {"a": {"none": "1uuf", "gate": "1f--"}}, [PRIMARY])[0]
    assert (row.n, row.n_unjudged, row.n_failed, row.n_missing) == (1, 0, 1, 2)


def test_pooled_weighs_datasets_equally_and_sums_the_counts(tmp_path: Path) -> None:
    arms = {"a": {"none": "0000", "gate": "1100"}, "b": {"none": "1" * 8, "gate": "01111111"}}
    *_, pooled = _rows(tmp_path / "r", arms, [PRIMARY])
    # Differences 2/4 and −1/8; their mean is 3/16, not 1/12.
    assert (pooled.dataset, pooled.n, pooled.gained, pooled.lost) == ("pooled", 12, 2, 1)
    assert pooled.delta == pytest.approx(3 / 16)
    assert (pooled.acc_baseline, pooled.acc_treatment) == ((0 + 1) / 2, (2 / 4 + 7 / 8) / 2)
    seed = seed_for(7, "none", "gate", "")
    assert (pooled.ci_low, pooled.ci_high) == pooled_interval([(2, 0, 4), (0, 1, 8)], seed)
    assert (pooled.mcnemar_p, pooled.mcnemar_p_holm, pooled.family_size) == (exact_p(2, 1), None, None)
    assert pooled.n_expected == 12


def test_a_dataset_with_nothing_to_compare_takes_no_part_in_the_mean(tmp_path: Path) -> None:
    arms = {"a": {"none": "0000", "gate": "1100"}, "b": {"none": "uu", "gate": "11"}}
    _, empty, pooled = _rows(tmp_path / "r", arms, [PRIMARY])
    assert (empty.n, empty.delta, empty.ci_low, empty.mcnemar_p, empty.detectable) == (0, *(None,) * 4)
    assert (pooled.delta, pooled.n, pooled.n_unjudged) == (0.5, 4, 2)


def test_holm_covers_the_dataset_rows_of_all_pairs_of_a_family(tmp_path: Path) -> None:
    arms = {
        "a": {"none": "0" * 8, "gate": "1" * 8, "more": "1" * 6 + "00"},
        "b": {"none": "0" * 8, "gate": "1" * 5 + "000", "more": "0" * 8},
    }
    more = {"baseline": "none", "treatment": "more", "family": "primary"}
    other = {"baseline": "gate", "treatment": "more", "family": "control"}
    rows = _rows(tmp_path / "r", arms, [PRIMARY, more, other])
    primary = {(row.treatment, row.dataset): row for row in rows if row.family == "primary"}
    # p = 2/2^8, 2/2^5, 2/2^6, 1, times 4, 2, 3, 1 in their order.
    holm = {key: row.mcnemar_p_holm for key, row in primary.items() if key[1] != "pooled"}
    assert holm == {
        ("gate", "a"): pytest.approx(4 * 2 / 2**8),
        ("more", "a"): pytest.approx(3 * 2 / 2**6),
        ("gate", "b"): pytest.approx(2 * 2 / 2**5),
        ("more", "b"): 1.0,
    }
    assert {row.family_size for row in primary.values() if row.dataset != "pooled"} == {4}
    assert {row.family_size for row in rows if row.family == "control"} == {2, None}


def test_a_selected_row_holds_the_questions_its_condition_searched_and_left_unread(tmp_path: Path) -> None:
    arms = {"a": {"none": "01WCun", "rerun": "011010", "gate": "111111"}}
    pair = {"baseline": "rerun", "treatment": "gate", "family": "control", "select_on": "none"}
    row = _rows(tmp_path / "r", arms, [pair])[0]
    # q0 and q1 are unread; q2 and q3 were read; q4 is unjudged in the selecting arm; q5 did not search.
    assert (row.n, row.n_not_selected, row.n_unjudged, row.n_expected) == (2, 3, 1, 6)
    assert (row.gained, row.lost, row.self_selected) == (1, 0, False)
    assert row.mcnemar_p == 1.0
    assert (row.mcnemar_p_holm, row.family_size) == (None, None)


@pytest.mark.parametrize("own", ["none", "gate"])
def test_a_row_selected_on_its_own_arm_has_no_p_value(tmp_path: Path, own: str) -> None:
    pair = {**PRIMARY, "select_on": own}
    last = {"none": "C1", "gate": "1C"}[own]  # read by the arm that selects, by that one alone
    rows = _rows(tmp_path / "r", {"a": {"none": f"0001{last[0]}", "gate": f"1111{last[1]}"}}, [pair])
    assert [(row.n, row.gained, row.self_selected) for row in rows] == [(4, 3, True)] * 2
    assert {row.mcnemar_p for row in rows} | {row.mcnemar_mid_p for row in rows} == {None}
    assert rows[0].ci_low is not None


def test_arms_of_unlike_repeats_stand_outside_the_family(tmp_path: Path) -> None:
    arms = {"a": {"none": "0000", "gate": "1111", "rerun": "1000"}}
    rerun = {"baseline": "none", "treatment": "rerun", "family": "primary"}
    rows = _rows(tmp_path / "r", arms, [PRIMARY, rerun], repeats={"rerun": 2})
    gate, again = (row for row in rows if row.dataset == "a")
    assert gate.family_size == 1
    assert gate.mcnemar_p_holm == pytest.approx(2 / 16)
    assert (again.family_size, again.mcnemar_p_holm) == (None, None)
    assert again.mcnemar_p == 1.0


def test_a_gain_counts_as_new_text_only_when_that_text_was_new_and_the_answer_in_no_snippet(
    tmp_path: Path,
) -> None:
    shown, read = searched(1, ("g", "born")), was_read(2, "g", "in Vellmar")
    telling = searched(1, ("g", "in Vellmar"))
    arms = {"a": {"none": "0000", "gate": "1110"}}
    unread: Steps = {"none": [shown, ruled(2)]}
    new: Steps = {"gate": [shown, read, ruled(3)]}
    assert _rows(tmp_path / "1", arms, [PRIMARY], steps={**unread, **new})[0].gained_new_text == 3
    known: Steps = {"none": [shown, read, ruled(3)]}
    assert _rows(tmp_path / "2", arms, [PRIMARY], steps={**known, **new})[0].gained_new_text == 0
    in_snippet: Steps = {"gate": [telling, read, ruled(3)]}
    assert _rows(tmp_path / "3", arms, [PRIMARY], steps={**unread, **in_snippet})[0].gained_new_text == 0


LETTERS = st.sampled_from("10uf-CW")


@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=15))
@settings(max_examples=40, deadline=None)
def test_swapping_the_arms_flips_every_sign(
    tmp_path_factory: pytest.TempPathFactory, outcomes: list[tuple[str, str]]
) -> None:
    none, gate = ("".join(letters) for letters in zip(*outcomes, strict=True))
    there = {"baseline": "none", "treatment": "gate"}
    back = {"baseline": "gate", "treatment": "none"}
    rows = _rows(tmp_path_factory.mktemp("p") / "r", {"a": {"none": none, "gate": gate}}, [there, back])
    first, second = (row for row in rows if row.dataset == "a")
    assert (first.n, first.gained, first.lost) == (second.n, second.lost, second.gained)
    assert first.mcnemar_p == pytest.approx(second.mcnemar_p)
    if first.delta is not None and second.delta is not None:
        assert first.delta == -second.delta
        assert first.ci_low is not None
        assert second.ci_high is not None
        assert first.ci_low == pytest.approx(-second.ci_high)


def test_line_order_split_files_and_a_torn_tail_change_nothing(tmp_path: Path) -> None:
    arms = {"a": {"none": "1001u1C", "gate": "0111f1W"}, "b": {"none": "000", "gate": "011"}}
    whole = _rows(tmp_path / "whole", arms, [PRIMARY])
    _rows(tmp_path / "split", arms, [PRIMARY])
    folder = tmp_path / "split"
    for kind in ("trajectories", "verdicts"):
        lines = (folder / f"{kind}.jsonl").read_bytes().splitlines(keepends=True)
        random.Random(9).shuffle(lines)
        (folder / f"{kind}.jsonl").write_bytes(b"".join(lines[:5]))
        (folder / f"{kind}.1.jsonl").write_bytes(b"".join(lines[5:]) + lines[0][:40])
    write_lines(folder / "trajectories.2.jsonl", [])
    assert pair_rows(read_frame(RunFolder.open(folder), entities)) == whole
