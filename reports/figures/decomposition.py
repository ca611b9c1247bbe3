"""Where answers go: every scored row of a cell once, as stacked bars that also print in grey."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from reports.figures import style
from reports.formats import percent
from reports.tables.cells import CellRow

ROW, HEADING, LEFT, RIGHT, BOTTOM = 22, 26, 170, 24, 44
LEGEND_ROW, LEGEND_COLUMNS = 20, 5


@dataclass(frozen=True, slots=True)
class Part:
    """A segment of a bar: the field it shows and how it is told apart, by colour and by hatch."""

    field: str
    name: str
    colour: str
    hatch: str


PARTS = (
    Part("llm_acc", "correct", style.GRID, ""),
    Part("p_no_read", "no read", style.SERIES[0], ""),
    Part("p_snippet_only", "snippet only", style.SERIES[5], "////"),
    Part("p_low_evidence", "low evidence", style.SERIES[5], "----"),
    Part("p_post", "post", style.SERIES[1], "\\\\\\\\"),
    Part("p_retr", "retrieval", style.SERIES[4], "xxx"),
    Part("p_amb", "ambiguous", style.SERIES[3], "|||"),
    Part("p_unknown", "unknown", style.SERIES[7], "++"),
    Part("abstain_rate", "abstained", style.MUTED, "//"),
)


def draw_decomposition(rows: Sequence[CellRow], words: str) -> str:
    """The picture of all cells, dataset by dataset.

    Args:
        rows: Of the cells table.
        words: What the picture shows.
    """
    legend_height = LEGEND_ROW * -(-len(PARTS) // LEGEND_COLUMNS) + 12
    heights, headings, total = _layout(rows)
    with style.drawing():
        figure = style.blank(legend_height + total + BOTTOM)
        _legend(style.panel(figure, 0, 0, style.WIDTH, legend_height), legend_height)
        axes = style.panel(figure, LEFT, legend_height, style.WIDTH - LEFT - RIGHT, total)
        axes.set_xlim(0, 100)
        axes.set_ylim(total, 0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("% of scored rows", color=style.MUTED)
        for row, height in zip(rows, heights, strict=True):
            _draw_bar(axes, row, height)
        for name, height in headings.items():
            _left_label(axes, height, name, bold=True)
        return style.write(figure, "decomposition", "Where answers go", words)


def _layout(rows: Sequence[CellRow]) -> tuple[list[float], dict[str, float], float]:
    """The height of every bar and of every dataset's name, and of all."""
    heights: list[float] = []
    headings: dict[str, float] = {}
    at = 0.0
    for row in rows:
        if row.dataset not in headings:
            headings[row.dataset] = at + HEADING / 2
            at += HEADING
        heights.append(at + ROW / 2)
        at += ROW
    return heights, headings, max(at, ROW)


def _draw_bar(axes: Axes, row: CellRow, height: float) -> None:
    _left_label(axes, height, row.condition, bold=False)
    start = 0.0
    for part in PARTS:
        share = getattr(row, part.field)
        if share:
            axes.add_patch(_box(part, start, height - 0.36 * ROW, 100 * share, 0.72 * ROW))
            start += 100 * share
    if row.llm_acc is None:
        axes.text(1, height, "nothing scored yet", va="center", color=style.MUTED, fontsize=10)
    elif row.llm_acc > 0.09:
        axes.text(1, height, percent(row.llm_acc), va="center", color=style.INK, fontsize=10)


def _box(part: Part, left: float, top: float, width: float, height: float) -> Rectangle:
    return Rectangle(
        (left, top),
        width,
        height,
        facecolor=part.colour,
        edgecolor=style.PAPER,
        hatch=part.hatch or None,
        linewidth=0.8,
    )


def _left_label(axes: Axes, height: float, text: str, *, bold: bool) -> None:
    axes.annotate(
        text,
        (0, height),
        xytext=(-LEFT if bold else -8, 0),
        textcoords="offset points",
        ha="left" if bold else "right",
        va="center",
        color=style.INK,
        weight="bold" if bold else "normal",
        annotation_clip=False,
    )


def _legend(axes: Axes, height: float) -> None:
    axes.set_axis_off()
    axes.set_xlim(0, style.WIDTH)
    axes.set_ylim(height, 0)
    step = style.WIDTH / LEGEND_COLUMNS
    for number, part in enumerate(PARTS):
        left = (number % LEGEND_COLUMNS) * step
        middle = number // LEGEND_COLUMNS * LEGEND_ROW + LEGEND_ROW / 2
        axes.add_patch(_box(part, left, middle - 7, 22, 14))
        axes.text(left + 28, middle, part.name, va="center", color=style.INK)
