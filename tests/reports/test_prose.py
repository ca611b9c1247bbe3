"""The sentences of a report, word by word where a figure stands in them."""

from dataclasses import replace
from pathlib import Path

import pytest

from reports import prose
from reports.report import DecisiveFact, Report
from tests.reports.sample_run import sample_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("prose"))


def test_the_lead_tells_the_mechanism_and_the_effect_of_the_primary_pairs(report: Report) -> None:
    pooled = next(row for row in report.pairs if row.dataset == "pooled" and row.family == "primary")
    (lead,) = prose.lead(report)
    # Of a dataset's 11 questions q1 failed under none. Of the others the odd ones are right there, and
    # all but q0, q4 and q8 under the gate: q2 (an abstention), q6 and q10 are gained, none is lost.
    assert (pooled.n, pooled.gained, pooled.lost) == (20, 6, 0)
    assert lead.startswith(
        "none → gate (primary), all datasets, n = 20: gained 6, of which "
        f"{pooled.gained_new_text} had the answer in newly read or given text and in no snippet; lost 0. "
        "Effect +30.0 points ["
    )
    assert lead.endswith("], exact McNemar p = 0.031.")


def test_without_a_primary_pair_all_pairs_lead_and_a_self_selected_one_says_why_it_has_no_test(
    report: Report,
) -> None:
    others = tuple(row for row in report.pairs if row.family != "primary")
    leads = prose.lead(replace(report, pairs=others))
    assert len(leads) == 2
    assert leads[1].endswith("selected on its own baseline: includes regression to the mean, so no test.")


def test_a_lead_whose_pairs_all_agree_says_that_its_interval_bounds_nothing(report: Report) -> None:
    row = next(row for row in report.pairs if row.dataset == "pooled")
    agreeing = replace(row, gained=0, lost=0, delta=0.0, ci_low=0.0, ci_high=0.0)
    (lead,) = prose.lead(replace(report, pairs=(agreeing,)))
    assert "0.0 points [0.0, 0.0] (no discordant pair: the bootstrap has nothing to resample), exact" in lead
    assert not prose.is_unresampled(replace(agreeing, gained=1))
    assert not prose.is_unresampled(replace(agreeing, lost=1))
    assert not prose.is_unresampled(replace(agreeing, n=0))
    assert not prose.is_unresampled(replace(agreeing, dataset="alpha"))


def test_the_null_share_of_the_rules_is_printed_as_a_range_over_cells(report: Report) -> None:
    first, second, third, *_ = report.cells
    cells = (
        replace(first, null_snippet_only=0.25, null_low_evidence=None),
        replace(second, null_snippet_only=0.5, null_low_evidence=None),
        replace(third, null_snippet_only=None, null_low_evidence=None),
    )
    assert prose.null_note(cells).endswith(
        "could not fire: the snippet rule in 25.0 to 50.0 % of a cell's answers."
    )
    assert prose.null_note(cells[2:]) == ""


def test_a_filtered_dataset_leads_with_its_own_row(report: Report) -> None:
    alpha = tuple(row for row in report.pairs if row.dataset == "alpha")
    assert prose.lead(replace(report, pairs=alpha))[0].startswith("none → gate (primary), alpha, n = 10:")


def test_with_nothing_to_compare_the_lead_says_so(tmp_path: Path) -> None:
    (lead,) = prose.lead(sample_report(tmp_path, judged=False))
    assert lead.startswith("Nothing can be compared yet")


def test_what_was_run_names_grid_models_and_judge(report: Report) -> None:
    text = prose.what_was_run(report)
    assert text.startswith("72 trajectories expected: 2 datasets (alpha, beta) × 3 conditions (none, gate, ")
    assert "Controllers: c = hasty (scripted). Judge: primary = judge." in text
    assert "Snippets lead:200, seed 7. Evidence: scripted programs." in text
    unjudged = replace(report, run=replace(report.run, judge=None, datasets=("alpha",)))
    assert "1 dataset (alpha)" in prose.what_was_run(unjudged)
    assert "No judge." in prose.what_was_run(unjudged)


def test_datasets_without_known_gold_are_named(report: Report) -> None:
    assert prose.gold_note(report.cells).startswith("No gold chunk is known on beta: ")
    assert prose.gold_note([row for row in report.cells if row.dataset == "alpha"]) == ""


def test_the_note_on_effects_says_what_could_have_been_detected(report: Report) -> None:
    note = prose.effects_note(report)
    assert "Gained: wrong in the baseline, right in the treatment; lost: the reverse." in note
    assert "points; not detected is not no effect." in note
    assert "include regression to the mean: no test" in note
    # In the exploratory pair both arms are right on the same questions.
    assert "† no discordant pair: the bootstrap has nothing to resample; it bounds nothing." in note
    assert "not selected" in note
    plain = tuple(row for row in report.pairs if row.family == "primary")
    assert "regression" not in prose.effects_note(replace(report, pairs=plain))
    assert "resample" not in prose.effects_note(replace(report, pairs=plain))
    nothing = tuple(replace(row, detectable=None) for row in plain)
    assert "detect" not in prose.effects_note(replace(report, pairs=nothing))


def test_the_guide_says_exactly_what_the_banners_share_measures(report: Report) -> None:
    measured = replace(report, decisive_fact=DecisiveFact(beyond_snippet=0.625, n=8))
    assert (
        "of 8 gold chunks (per question) that were shown, read in full by some arm, and hold a gold answer, "
        "62.5 % did not show it in title or snippet."
    ) in prose.reading_guide(measured)
    unmeasured = replace(report, decisive_fact=DecisiveFact(beyond_snippet=None, n=0))
    assert "could not be measured in this run" in prose.reading_guide(unmeasured)


def test_the_funnels_note_counts_what_has_no_verdict(report: Report) -> None:
    assert prose.funnel_note(report).endswith("the one that counts.")
    first, *rest = report.funnel
    missing = replace(report, funnel=(replace(first, n_rejected_unjudged=3), *rest))
    assert prose.funnel_note(missing).endswith("; 3 of those turned away have no verdict.")


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("effects", "pooled, none → gate (primary): +30.0 points ["),
        ("failure_plane", "beta, gate: discipline 0.0 %, post 0.0 %"),
        ("decomposition", "alpha, none: correct 40.0 %, discipline 30.0 %, post 10.0 %, retrieval 10.0 %"),
        ("funnel", "beta, gate: fired 11, complied 11, read gold –, changed 11, gained 8, lost 0"),
    ],
)
def test_a_picture_is_told_in_words(report: Report, kind: prose.PictureKind, part: str) -> None:
    assert part in prose.in_words(report, kind)
