"""What a report says and in which order, whatever it is rendered as."""

from dataclasses import replace
from pathlib import Path

import pytest

from reports.document import Banner, Heading, Paragraph, Picture, Table, document
from reports.report import Report
from tests.reports.sample_run import sample_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("document"))


def test_the_banner_then_the_mechanism_come_before_any_other_figure(report: Report) -> None:
    title, banner, lead = document(report)[:3]
    assert isinstance(title, Heading)
    assert title.level == 1
    assert isinstance(banner, Banner)
    assert banner.text == report.banner
    assert isinstance(lead, Paragraph)
    assert lead.tone == "lead"
    assert "gained" in lead.text


def test_every_picture_of_a_scripted_run_bears_the_banner_in_its_caption(report: Report) -> None:
    pictures = [block for block in document(report) if isinstance(block, Picture)]
    assert [picture.kind for picture in pictures] == ["effects", "failure_plane", "decomposition", "funnel"]
    assert report.banner is not None
    assert all(picture.caption.endswith(report.banner) for picture in pictures)


def test_a_run_of_models_has_no_banner_anywhere(tmp_path: Path) -> None:
    blocks = document(sample_report(tmp_path, provider="openai_chat"))
    assert not any(isinstance(block, Banner) for block in blocks)
    assert not any("SCRIPTED" in block.caption for block in blocks if isinstance(block, Picture))


def test_every_table_states_what_was_expected_scored_failed_and_unjudged(report: Report) -> None:
    tables = [block for block in document(report) if isinstance(block, Table)]
    assert len(tables) == 7
    for table in tables:
        for word in ("expected", "scored", "failed", "unjudged", "missing"):
            assert f"{word} " in table.note, table.title


def test_every_row_of_a_table_is_as_long_as_its_head(report: Report) -> None:
    for block in document(report):
        if isinstance(block, Table):
            lengths = {len(row) for group in block.groups for row in group.rows}
            assert lengths == {len(block.columns)}, block.title


def test_pairs_head_their_rows_and_datasets_theirs(report: Report) -> None:
    tables = {block.title: block for block in document(report) if isinstance(block, Table)}
    effects = tables["Paired effects"].groups
    assert effects[0].name == "none → gate (primary)"
    assert effects[2].name == (
        "none → gate (exploratory, on what none left unread), "
        "selected on its own baseline: includes regression to the mean"
    )
    assert [row[0] for row in effects[0].rows] == ["alpha", "beta", "pooled"]
    assert [group.name for group in tables["Outcomes: counts, then % of scored rows"].groups] == [
        "alpha",
        "beta",
    ]


def test_an_interval_that_had_nothing_to_resample_is_marked(report: Report) -> None:
    agreeing = tuple(
        replace(row, gained=0, lost=0, delta=0.0, ci_low=0.0, ci_high=0.0) for row in report.pairs
    )
    (table,) = (
        block
        for block in document(replace(report, pairs=agreeing[:3]))
        if isinstance(block, Table) and block.title == "Paired effects"
    )
    # The interval of a dataset is a score interval: a point of it would be no artefact of resampling.
    assert [row[5] for row in table.groups[0].rows] == ["[0.0, 0.0]", "[0.0, 0.0]", "[0.0, 0.0]†"]
    assert "† no discordant pair: the bootstrap has nothing to resample" in table.note


def test_the_table_of_failures_says_how_often_a_rule_had_nothing_to_look_for(report: Report) -> None:
    (table,) = (
        block for block in document(report) if isinstance(block, Table) and block.title.startswith("Failures")
    )
    # The question of these runs names no entity, every answer ("Vellmar") is one.
    assert "the snippet rule in 0.0 % of a cell's answers, the low-evidence rule in 100.0 % of" in table.note


def test_containment_stands_beside_the_same_without_yes_and_no(report: Report) -> None:
    (table,) = (
        block for block in document(report) if isinstance(block, Table) and block.title.startswith("Outcomes")
    )
    assert table.columns[6:9] == ("Acc", "Contain", "w/o y/n")
    assert "w/o y/n: the same without the rows whose gold answer is yes or no." in table.note


def test_without_pairs_or_gates_their_sections_are_left_out(report: Report, tmp_path: Path) -> None:
    bare = sample_report(tmp_path)
    without = Report(
        evidence=bare.evidence,
        banner=bare.banner,
        run=bare.run,
        decisive_fact=bare.decisive_fact,
        to_do=(),
        cells=bare.cells,
        pairs=(),
        funnel=(),
    )
    headings = [block.text for block in document(without) if isinstance(block, Heading)]
    assert "Effects, question by question" not in headings
    assert "What the gate set off" not in headings
    assert len(document(without)) < len(document(report))
