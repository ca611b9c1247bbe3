"""The JSON report: the fields that other programs rely on, and no number that is none."""

import math
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from reports.render import FORMATS
from reports.render.as_json import render_json
from reports.report import Report
from tests.reports.sample_run import sample_report

CELLS = """dataset condition n_expected n_scored n_unjudged n_failed n_missing n_known_gold llm_acc
contain_acc contain_token abstain_rate declined_rate forced_rate zero_read_rate no_search_rate p_disc
p_no_read p_snippet_only p_low_evidence p_post p_retr p_amb p_unknown ind_disc ind_post ind_retr ind_amb
gold_shown_any gold_shown_all gold_read_any gold_read_all fired_rate mean_reads mean_turns
mean_corrections mean_retrieved_tokens mean_seconds cost_usd cost_reserved_usd judge_cost_usd"""
PAIRS = """dataset baseline treatment family family_size select_on self_selected n acc_baseline
acc_treatment delta ci_low ci_high gained lost mcnemar_p mcnemar_p_holm"""
FUNNEL = "dataset condition fired complied read_gold changed gained lost"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return sample_report(tmp_path_factory.mktemp("json"))


def test_every_field_of_the_contract_is_there(report: Report) -> None:
    tree = orjson.loads(render_json(report))
    assert tree["evidence"] == "scripted"
    assert tree["banner"] == report.banner
    for table, names in (("cells", CELLS), ("pairs", PAIRS), ("funnel", FUNNEL)):
        for row in tree[table]:
            assert set(names.split()) <= row.keys()


def test_figures_are_unrounded_and_undefined_ones_null(report: Report) -> None:
    tree = orjson.loads(render_json(report))
    gate = next(row for row in tree["cells"] if (row["dataset"], row["condition"]) == ("beta", "gate"))
    assert gate["llm_acc"] == 8 / 11
    assert gate["gold_read_any"] is None


def test_what_is_not_a_number_is_refused(report: Report) -> None:
    broken = replace(report, cells=(replace(report.cells[0], llm_acc=math.nan),))
    with pytest.raises(ValueError, match=r"report\.cells\[0\]\.llm_acc is nan"):
        render_json(broken)


def test_every_format_ends_in_a_newline_and_says_what_the_run_is(report: Report) -> None:
    for render in FORMATS.values():
        text = render(report)
        assert text.endswith("\n")
        assert "SCRIPTED PROGRAMS, NOT LANGUAGE MODELS" in " ".join(text.split())


def test_the_same_folder_gives_the_same_report_twice(report: Report, tmp_path: Path) -> None:
    again = sample_report(tmp_path)
    assert again.cells == report.cells
    assert again.pairs == report.pairs
