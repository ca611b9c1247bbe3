"""The gate funnel: one panel a cell, one bar a stage, all to one scale."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from reports.figures import style
from reports.formats import count
from reports.tables.funnel import FunnelRow

COLUMNS = 3
ROW, TOP, GAP, LEFT = 17, 38, 22, 74
STAGES = (
    ("fired", "fired", style.SERIES[0], ""),
    ("complied", "complied", style.SERIES[0], "////"),
    ("read_gold", "read gold", style.SERIES[0], "xxx"),
    ("changed", "changed", style.SERIES[4], "---"),
    ("gained", "gained", style.SERIES[2], ""),
    ("lost", "lost", style.SERIES[1], "\\\\\\\\"),
)
"""Field, name, colour and hatch of each bar."""


def draw_funnel(rows: Sequence[FunnelRow], words: str) -> str:
    """The picture of all cells with an enforced gate.

    Args:
        rows: Of the funnel table.
        words: What the picture shows.
    """
    width = style.WIDTH / COLUMNS
    height = TOP + ROW * len(STAGES) + GAP
    largest = max([1, *(getattr(row, field) or 0 for row in rows for field, *_ in STAGES)])
    with style.drawing():
        figure = style.blank(height * max(1, -(-len(rows) // COLUMNS)))
        for position, row in enumerate(rows):
            left = position % COLUMNS * width + LEFT
            top = position // COLUMNS * height + TOP
            axes = style.panel(figure, left, top, width - LEFT - 48, ROW * len(STAGES))
            _draw_panel(axes, row, largest)
        return style.write(figure, "funnel", "The gate funnel", words)


def _draw_panel(axes: Axes, row: FunnelRow, largest: int) -> None:
    axes.set_xlim(0, largest)
    axes.set_ylim(ROW * len(STAGES), 0)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["bottom"].set_visible(False)
    _text(axes, (0, 0), (-LEFT, 24), row.dataset, weight="bold")
    _text(axes, (0, 0), (-LEFT, 10), f"{row.condition}, of {count(row.n_scored)} scored rows", size=10)
    for number, (field, name, colour, hatch) in enumerate(STAGES):
        value = getattr(row, field)
        middle = ROW * (number + 0.5)
        bar = Rectangle(
            (0, middle - 0.36 * ROW),
            value or 0,
            0.72 * ROW,
            facecolor=colour,
            edgecolor=style.PAPER,
            hatch=hatch or None,
            linewidth=0.6,
        )
        axes.add_patch(bar)
        _text(axes, (0, middle), (-6, 0), name, side="right", size=10)
        _text(axes, (value or 0, middle), (5, 0), count(value), size=10)


def _text(
    axes: Axes,
    at: tuple[float, float],
    offset: tuple[float, float],
    text: str,
    *,
    side: str = "left",
    size: float = 11,
    weight: str = "normal",
) -> None:
    axes.annotate(
        text,
        at,
        xytext=offset,
        textcoords="offset points",
        ha=side,
        va="center",
        color=style.INK,
        fontsize=size,
        weight=weight,
        annotation_clip=False,
    )
