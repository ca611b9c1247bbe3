"""The sentences of a report: what its figures say, in words.

The same words lead a report, stand under its tables, and describe a picture to who cannot see it.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from reports.formats import count, interval, p_sentence, percent, points, span
from reports.report import EvidenceKind, Report
from reports.tables.cells import CellRow
from reports.tables.funnel import FunnelRow
from reports.tables.pairs import POOLED, PairRow

PictureKind: TypeAlias = Literal["effects", "failure_plane", "decomposition", "funnel"]

TITLES: dict[PictureKind, str] = {
    "effects": "Effect of each treatment",
    "failure_plane": "The failure plane",
    "decomposition": "Where answers go",
    "funnel": "The gate funnel",
}

CAPTIONS: dict[PictureKind, str] = {
    "effects": (
        "Difference in accuracy, treatment minus baseline, with its 95 % interval: the paired score "
        "interval on each dataset, a bootstrap within datasets when pooled, which has no width where it has "
        "nothing to resample."
    ),
    "failure_plane": (
        "Each point is a cell: the share of scored rows that failed for want of discipline against the "
        "share that failed although a gold chunk was read. Arrows lead from a baseline to its treatment."
    ),
    "decomposition": "Every scored row of a cell once: correct, abstained, or the one label of its failure.",
    "funnel": (
        "Scored rows in which the gate fired, and those of them that meet each stage; the stages are "
        "not nested."
    ),
}

ZERO_READS_NOTE = (
    "The first reason that fits counts. Forced: a limit ended the episode. Exhausted: the gate fired at the "
    "last final and had no correction left; an injected passage is its only one. No search: nothing was "
    "searched. Voluntary: all others."
)


EVIDENCE: dict[EvidenceKind, str] = {
    "scripted": "scripted programs",
    "rehearsal": "rehearsal",
    "replication": "model calls, a protocol replication",
}
SELF_SELECTED = "selected on its own baseline: includes regression to the mean"

UNRESAMPLED_MARK = "†"
NOTHING_TO_RESAMPLE = "no discordant pair: the bootstrap has nothing to resample"


CONTAIN_NOTE = (
    "Contain: the normalised gold answer stands in the answer, inside a word too; w/o y/n: the same without "
    "the rows whose gold answer is yes or no."
)


def pair_name(row: PairRow) -> str:
    """A pair by its arms, its family and its selection."""
    selection = f", on what {row.select_on} left unread" if row.select_on else ""
    return f"{row.baseline} → {row.treatment} ({row.family}{selection})"


def pair_heading(row: PairRow) -> str:
    """A pair as it heads its rows, with the warning that a self-selected one must bear."""
    return f"{pair_name(row)}, {SELF_SELECTED}" if row.self_selected else pair_name(row)


def is_unresampled(row: PairRow) -> bool:
    """Whether an interval is a bootstrap of pairs that all agree, which is a point and bounds nothing."""
    return row.dataset == POOLED and row.n > 0 and row.gained == row.lost == 0


def lead(report: Report) -> list[str]:
    """The key message: the mechanism and the effect of the primary pairs, or of all without a primary."""
    rows = [row for row in report.pairs if row.dataset == POOLED] or list(report.pairs)
    primary = [row for row in rows if row.family == "primary"] or rows
    return [_lead_of(row) for row in primary if row.n] or [
        "Nothing can be compared yet: no question is scored in both arms of a pair."
    ]


def _lead_of(row: PairRow) -> str:
    where = "all datasets" if row.dataset == POOLED else row.dataset
    mechanism = (
        f"gained {row.gained:,}, of which {row.gained_new_text:,} had the answer in newly read or given text "
        f"and in no snippet; lost {row.lost:,}"
    )
    effect = _effect(row)
    test = (
        f"exact McNemar {p_sentence(row.mcnemar_p)}"
        if row.mcnemar_p is not None
        else f"{SELF_SELECTED}, so no test"
    )
    return f"{pair_name(row)}, {where}, n = {row.n:,}: {mechanism}. Effect {effect}, {test}."


def _effect(row: PairRow) -> str:
    caveat = f" ({NOTHING_TO_RESAMPLE})" if is_unresampled(row) else ""
    return f"{points(row.delta)} points {interval(row.ci_low, row.ci_high)}{caveat}"


def what_was_run(report: Report) -> str:
    """One paragraph on the setting."""
    run = report.run
    controllers = ", ".join(f"{name} = {model}" for name, model in run.models.items())
    judge = f"Judge: {run.judge} = {run.judge_model}." if run.judge else "No judge."
    return (
        f"{run.n_expected:,} trajectories expected: {_plural(run.datasets, 'dataset')} "
        f"({', '.join(run.datasets)}) × {_plural(run.conditions, 'condition')} "
        f"({', '.join(run.conditions)}). Controllers: {controllers}. {judge} "
        f"Snippets {run.snippet}, seed {run.seed}. Evidence: {EVIDENCE[report.evidence]}. "
        f"Run folder: {run.path}."
    )


def account(rows: Sequence[CellRow] | Sequence[FunnelRow]) -> str:
    """What became of all trajectories that a table speaks of."""
    sums = {
        word: sum(getattr(row, f"n_{word}") for row in rows)
        for word in ("expected", "scored", "failed", "unjudged", "missing")
    }
    return "Trajectories: " + ", ".join(f"{word} {n:,}" for word, n in sums.items()) + "."


def gold_note(rows: Sequence[CellRow]) -> str:
    """What a table of labels says of datasets whose gold is not known."""
    blind = list(dict.fromkeys(row.dataset for row in rows if row.n_scored and not row.n_known_gold))
    if not blind:
        return ""
    return (
        f"No gold chunk is known on {', '.join(blind)}: there no failure can be post, retrieval or "
        "ambiguous, and what is not discipline is unknown."
    )


def null_note(rows: Sequence[CellRow]) -> str:
    """How often the two rules of coverage had no entity to look for, and so could not fire."""
    shares = {
        "the snippet rule": [row.null_snippet_only for row in rows if row.null_snippet_only is not None],
        "the low-evidence rule": [row.null_low_evidence for row in rows if row.null_low_evidence is not None],
    }
    parts = [
        f"{rule} in {span(percent(min(found)), percent(max(found)))} % of a cell's answers"
        for rule, found in shares.items()
        if found
    ]
    return f"Had no entity to look for, and so could not fire: {', '.join(parts)}." if parts else ""


def effects_note(report: Report) -> str:
    """How to read the effects, and what this many questions could have shown."""
    rows = [row for row in report.pairs if row.dataset != POOLED]
    lost = {
        word: sum(getattr(row, f"n_{word}") for row in rows)
        for word in ("expected", "not_selected", "failed", "unjudged", "missing")
    }
    counts = ", ".join(
        f"{word.replace('_', ' ')} {n:,}" for word, n in lost.items() if n or word != "not_selected"
    )
    sentences = [
        "Gained: wrong in the baseline, right in the treatment; lost: the reverse.",
        (
            "Δ is the risk difference; p is the exact McNemar test; Holm corrects the dataset rows of a "
            "family, without reruns and selected questions."
        ),
    ]
    least = [row.detectable for row in rows if row.detectable is not None]
    if least:
        lowest, highest = (points(each).lstrip("+") for each in (min(least), max(least)))
        sentences.append(
            f"The least effect that a row can detect with 80 % power is {span(lowest, highest)} points; "
            "not detected is not no effect."
        )
    if any(is_unresampled(row) for row in report.pairs):
        sentences.append(f"{UNRESAMPLED_MARK} {NOTHING_TO_RESAMPLE}; it bounds nothing.")
    if any(row.self_selected for row in rows):
        sentences.append("Rows selected on one of their own arms include regression to the mean: no test.")
    scored = sum(row.n for row in rows)
    return " ".join([*sentences, f"Paired questions over all rows: scored {scored:,}, {counts}."])


def funnel_note(report: Report) -> str:
    """How the funnel's stages are counted."""
    unjudged = sum(row.n_rejected_unjudged for row in report.funnel)
    return "Gained and lost compare the first answer turned away with the one that counts" + (
        f"; {unjudged:,} of those turned away have no verdict." if unjudged else "."
    )


def reading_guide(report: Report) -> str:
    """What the words of the tables mean."""
    fact = report.decisive_fact
    measured = (
        f"Decisive fact beyond the snippet: of {fact.n:,} gold chunks (per question) that were shown, read "
        f"in full by some arm, and hold a gold answer, {percent(fact.beyond_snippet)} % did not show it in "
        "title or snippet."
        if fact.n
        else "How often the decisive fact lies beyond the snippet could not be measured in this run."
    )
    return (
        "Rates are over scored rows: abstained, or answered and judged. A failed or unjudged row is in no "
        "rate. Discipline: no chunk read, or the answer stood in snippets alone, or less than 80 % of the "
        "question's entities stood in read text. Post: wrong although a gold chunk was read. Retrieval: no "
        f"gold chunk in any result list. Ambiguous: none of these. {measured}"
    )


def in_words(report: Report, kind: PictureKind) -> str:
    """What a picture shows, figure by figure."""
    if kind == "effects":
        return _sentences(f"{row.dataset}, {pair_heading(row)}: {_effect(row)}" for row in report.pairs)
    if kind == "failure_plane":
        return _sentences(
            f"{_cell(row)}: discipline {percent(row.p_disc)} %, post {percent(row.p_post)} %"
            for row in report.cells
        )
    if kind == "decomposition":
        return _sentences(
            f"{_cell(row)}: correct {percent(row.llm_acc)} %, discipline {percent(row.p_disc)} %, "
            f"post {percent(row.p_post)} %, retrieval {percent(row.p_retr)} %, "
            f"ambiguous {percent(row.p_amb)} %, unknown {percent(row.p_unknown)} %, "
            f"abstained {percent(row.abstain_rate)} %"
            for row in report.cells
        )
    return _sentences(
        f"{_cell(row)}: fired {row.fired:,}, complied {row.complied:,}, read gold "
        f"{count(row.read_gold)}, changed {row.changed:,}, gained {row.gained:,}, lost {row.lost:,}"
        for row in report.funnel
    )


def _cell(row: CellRow | FunnelRow) -> str:
    return f"{row.dataset}, {row.condition}"


def _sentences(parts: Iterable[str]) -> str:
    return "; ".join(parts) + "."


def _plural(names: Sequence[str], noun: str) -> str:
    return f"{len(names)} {noun}" + ("" if len(names) == 1 else "s")
