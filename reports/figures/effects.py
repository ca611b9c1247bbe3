"""The effect of every treatment as a forest plot: a dot with its interval for each dataset and pooled."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from reports.figures import style
from reports.formats import interval, points
from reports.tables.pairs import POOLED, PairRow

ROW = 19
GROUP_GAP = 12
LEFT, RIGHT = 170, 170
BOTTOM = 42


def draw_effects(rows: Sequence[PairRow], names: Sequence[str], words: str) -> str:
    """The picture of all pairs.

    Args:
        rows: Of the pairs table, pair by pair.
        names: The name of each row's pair, which heads its rows.
        words: What the picture shows.
    """
    with style.drawing():
        heights = _heights(names)
        total = heights[-1] + ROW if heights else ROW
        figure = style.blank(total + BOTTOM)
        axes = style.panel(figure, LEFT, 0, style.WIDTH - LEFT - RIGHT, total)
        axes.set_ylim(total, 0)
        axes.spines["left"].set_visible(False)
        axes.axvline(0, color=style.MUTED, linewidth=1)
        axes.grid(axis="x", color=style.GRID, linewidth=0.8)
        axes.set_yticks([])
        axes.set_xlabel("Difference in accuracy, percentage points", color=style.MUTED)
        edge = _limit(rows)
        axes.set_xlim(-edge, edge)
        for position, (row, height) in enumerate(zip(rows, heights, strict=True)):
            if position == 0 or names[position] != names[position - 1]:
                _label(axes, -edge, height - ROW, names[position], heading=True)
            _draw_row(axes, row, height, edge)
        return style.write(figure, "effects", "Effect of each treatment", words)


def _heights(names: Sequence[str]) -> list[float]:
    """Where each row stands; a pair's name takes a line of its own above its rows."""
    heights: list[float] = []
    at = 0.0
    for position, name in enumerate(names):
        if position == 0 or name != names[position - 1]:
            at += ROW + (GROUP_GAP if position else 0)
        at += ROW
        heights.append(at)
    return heights


def _limit(rows: Sequence[PairRow]) -> float:
    bounds = [abs(100 * bound) for row in rows for bound in (row.ci_low, row.ci_high) if bound is not None]
    return max([5.0, *bounds]) * 1.06


def _draw_row(axes: Axes, row: PairRow, height: float, edge: float) -> None:
    pooled = row.dataset == POOLED
    _label(axes, -edge, height, row.dataset, heading=False, bold=pooled)
    if row.delta is None or row.ci_low is None or row.ci_high is None:
        _value(axes, edge, height, "no question to compare", bold=False)
        return
    colour = style.SERIES[0] if pooled else style.INK
    axes.plot([100 * row.ci_low, 100 * row.ci_high], [height, height], color=colour, linewidth=1.6)
    axes.plot(
        [100 * row.delta],
        [height],
        marker="D" if pooled else "o",
        markersize=7 if pooled else 6,
        color=colour,
        markerfacecolor=style.PAPER if row.self_selected else colour,
        linestyle="none",
    )
    _value(axes, edge, height, f"{points(row.delta)}  {interval(row.ci_low, row.ci_high)}", bold=pooled)


def _label(axes: Axes, x: float, y: float, text: str, *, heading: bool, bold: bool = False) -> None:
    axes.annotate(
        text,
        (x, y),
        xytext=(-LEFT if heading else -LEFT + 12, 0),
        textcoords="offset points",
        va="center",
        color=style.INK,
        weight="bold" if heading or bold else "normal",
        bbox={"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.0} if heading else None,
        annotation_clip=False,
    )


def _value(axes: Axes, x: float, y: float, text: str, *, bold: bool) -> None:
    axes.annotate(
        text,
        (x, y),
        xytext=(RIGHT - 4, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        color=style.INK,
        weight="bold" if bold else "normal",
        annotation_clip=False,
    )
