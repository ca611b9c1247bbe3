"""The story of a report as blocks that every format renders: what it says, not how it looks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from reports import prose
from reports.formats import count, interval, number, p_value, percent, points, usd
from reports.prose import PictureKind
from reports.report import Report
from reports.tables.cells import CellRow
from reports.tables.funnel import FunnelRow
from reports.tables.pairs import PairRow

AnyRow = TypeVar("AnyRow")
CellOrFunnelRow = TypeVar("CellOrFunnelRow", CellRow, FunnelRow)


@dataclass(frozen=True, slots=True)
class Heading:
    """A title of a section, or of the whole when ``level`` is 1."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; a ``lead`` is the key message, a ``note`` small print."""

    text: str
    tone: Literal["plain", "lead", "note", "to_do"] = "plain"


@dataclass(frozen=True, slots=True)
class Banner:
    """What must be read before any figure."""

    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a table under a common head; each row starts with its name."""

    name: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first column names the row, the others are figures as text."""

    title: str
    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure by its kind; ``words`` say what it shows to who cannot see it."""

    kind: PictureKind
    title: str
    caption: str
    words: str


Block: TypeAlias = Heading | Paragraph | Banner | Table | Picture


def document(report: Report) -> tuple[Block, ...]:
    """All blocks of a report, the key message first."""
    return (
        Heading(f"Read-Gate report: {report.run.experiment}", level=1),
        *([Banner(report.banner)] if report.banner else []),
        *(Paragraph(text, "lead") for text in prose.lead(report)),
        Paragraph(prose.what_was_run(report)),
        *(Paragraph(text, "to_do") for text in report.to_do),
        *(_effects(report) if report.pairs else []),
        Heading("What happened in each cell"),
        _outcomes(report),
        Heading("Why answers were wrong"),
        _picture(report, "failure_plane"),
        _picture(report, "decomposition"),
        _failures(report),
        Heading("What agents looked at"),
        _behaviour(report),
        _zero_reads(report),
        *(_funnel(report) if report.funnel else []),
        Heading("What it cost"),
        _costs(report),
        Paragraph(prose.reading_guide(report), "note"),
    )


def _effects(report: Report) -> list[Block]:
    columns = ("Dataset", "n", "Base %", "Treat %", "Δ pts", "95 % CI", "Gained", "Lost", "p", "p Holm")
    groups = tuple(
        Group(name, tuple(_effect(row) for row in rows))
        for name, rows in _grouped(report.pairs, prose.pair_heading)
    )
    note = prose.effects_note(report)
    return [
        Heading("Effects, question by question"),
        _picture(report, "effects"),
        Table("Paired effects", columns, groups, note),
    ]


def _effect(row: PairRow) -> tuple[str, ...]:
    return (
        row.dataset,
        count(row.n),
        percent(row.acc_baseline),
        percent(row.acc_treatment),
        points(row.delta),
        interval(row.ci_low, row.ci_high) + (prose.UNRESAMPLED_MARK if prose.is_unresampled(row) else ""),
        count(row.gained),
        count(row.lost),
        p_value(row.mcnemar_p),
        p_value(row.mcnemar_p_holm),
    )


def _outcomes(report: Report) -> Table:
    columns = ("Condition", "Expected", "Scored", "Failed", "Unjudged", "Missing", "Acc", "Contain")
    return Table(
        "Outcomes: counts, then % of scored rows",
        (*columns, "w/o y/n", "Abstain", "Decline"),
        _by_dataset(
            report.cells,
            lambda row: (
                row.condition,
                *(count(n) for n in (row.n_expected, row.n_scored, row.n_failed, row.n_unjudged)),
                count(row.n_missing),
                percent(row.llm_acc),
                percent(row.contain_acc),
                percent(row.contain_acc_without_yes_no),
                percent(row.abstain_rate),
                percent(row.declined_rate),
            ),
        ),
        f"{prose.CONTAIN_NOTE} {prose.account(report.cells)}",
    )


def _failures(report: Report) -> Table:
    columns = ("Condition", "Correct", "Discip.", "no-read", "snippet", "low-ev.", "Post", "Retr.", "Ambig.")
    return Table(
        "Failures, % of scored rows",
        (*columns, "Unknown", "Abstain"),
        _by_dataset(
            report.cells,
            lambda row: (
                row.condition,
                *(percent(p) for p in (row.llm_acc, row.p_disc, row.p_no_read, row.p_snippet_only)),
                *(percent(p) for p in (row.p_low_evidence, row.p_post, row.p_retr, row.p_amb)),
                *(percent(p) for p in (row.p_unknown, row.abstain_rate)),
            ),
        ),
        " ".join(
            note
            for note in (
                prose.gold_note(report.cells),
                prose.null_note(report.cells),
                prose.account(report.cells),
            )
            if note
        ),
    )


def _behaviour(report: Report) -> Table:
    columns = ("Condition", "Reads", "Turns", "Correct.", "Tokens", "Shown any", "Shown all")
    return Table(
        "Evidence: means per trajectory; % of rows with gold shown, gold read, the read rule fired",
        (*columns, "Read any", "Read all", "Fired"),
        _by_dataset(
            report.cells,
            lambda row: (
                row.condition,
                *(number(mean) for mean in (row.mean_reads, row.mean_turns, row.mean_corrections)),
                number(row.mean_retrieved_tokens, 0),
                *(percent(p) for p in (row.gold_shown_any, row.gold_shown_all)),
                *(percent(p) for p in (row.gold_read_any, row.gold_read_all)),
                percent(row.fired_rate),
            ),
        ),
        prose.account(report.cells),
    )


def _zero_reads(report: Report) -> Table:
    columns = ("Condition", "Zero reads", "forced", "exhausted", "no search", "voluntary")
    return Table(
        "Answers without a read, % of scored rows, and why",
        columns,
        _by_dataset(
            report.cells,
            lambda row: (
                row.condition,
                *(percent(p) for p in (row.zero_read_rate, row.zero_read_forced, row.zero_read_exhausted)),
                *(percent(p) for p in (row.zero_read_no_search, row.zero_read_voluntary)),
            ),
        ),
        f"{prose.ZERO_READS_NOTE} {prose.account(report.cells)}",
    )


def _funnel(report: Report) -> list[Block]:
    columns = ("Condition", "Scored", "Fired", "Complied", "Read gold", "Changed", "Gained", "Lost")
    table = Table(
        "Gate funnel, scored rows",
        columns,
        _by_dataset(
            report.funnel,
            lambda row: (
                row.condition,
                *(count(n) for n in (row.n_scored, row.fired, row.complied, row.read_gold, row.changed)),
                *(count(n) for n in (row.gained, row.lost)),
            ),
        ),
        f"{prose.funnel_note(report)} {prose.account(report.funnel)}",
    )
    return [Heading("What the gate set off"), _picture(report, "funnel"), table]


def _costs(report: Report) -> Table:
    return Table(
        "Cost, USD",
        ("Condition", "Agents", "Judging", "Reserved", "Seconds each"),
        _by_dataset(
            report.cells,
            lambda row: (
                row.condition,
                usd(row.cost_usd),
                usd(row.judge_cost_usd),
                usd(row.cost_reserved_usd),
                number(row.mean_seconds),
            ),
        ),
        f"Reserved: attempts whose cost is not known and may yet be billed. {prose.account(report.cells)}",
    )


def _picture(report: Report, kind: PictureKind) -> Picture:
    caption = prose.CAPTIONS[kind]
    if report.banner:
        caption = f"{caption} {report.banner}"
    return Picture(kind, prose.TITLES[kind], caption, prose.in_words(report, kind))


def _by_dataset(
    rows: Iterable[CellOrFunnelRow], cells: Callable[[CellOrFunnelRow], tuple[str, ...]]
) -> tuple[Group, ...]:
    return tuple(
        Group(name, tuple(cells(row) for row in members))
        for name, members in _grouped(rows, lambda row: row.dataset)
    )


def _grouped(rows: Iterable[AnyRow], name_of: Callable[[AnyRow], str]) -> list[tuple[str, list[AnyRow]]]:
    """Rows by name, names in the order of their first rows."""
    groups: dict[str, list[AnyRow]] = {}
    for row in rows:
        groups.setdefault(name_of(row), []).append(row)
    return list(groups.items())
