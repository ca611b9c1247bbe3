"""The failure plane: discipline against post-read failures, one panel a dataset, one point a cell."""

import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes

from reports.figures import style
from reports.tables.cells import CellRow

COLUMNS = 3
SIDE, GAP, LEFT, TOP, BOTTOM = 204, 40, 52, 26, 48
LEGEND_ROW = 20
CHARACTER = 6.9
"""Pixels of a letter at most, at the size of the legend."""

Arrow = tuple[str, str]
"""Baseline and treatment."""


def draw_failure_plane(rows: Sequence[CellRow], arrows: Sequence[Arrow], words: str) -> str:
    """The picture of all cells; panels share their axes, so that they can be compared.

    Args:
        rows: Of the cells table.
        arrows: Pairs to be joined where both ends are shown.
        words: What the picture shows.
    """
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    conditions = list(dict.fromkeys(row.condition for row in rows))
    places = _legend_places(conditions)
    legend_height = (places[-1][1] + 1) * LEGEND_ROW + 10 if places else 0
    panel_rows = max(1, math.ceil(len(datasets) / COLUMNS))
    with style.drawing():
        figure = style.blank(legend_height + panel_rows * (TOP + SIDE + BOTTOM))
        _legend(style.panel(figure, 0, 0, style.WIDTH, max(legend_height, 1)), conditions, places)
        limits = (_limit(row.p_disc for row in rows), _limit(row.p_post for row in rows))
        for position, dataset in enumerate(datasets):
            left = LEFT + (position % COLUMNS) * (SIDE + GAP)
            top = legend_height + (position // COLUMNS) * (TOP + SIDE + BOTTOM) + TOP
            axes = style.panel(figure, left, top, SIDE, SIDE)
            cells = [row for row in rows if row.dataset == dataset]
            _draw_panel(axes, cells, conditions, arrows, limits)
            axes.set_title(dataset, loc="left", fontsize=11, color=style.INK, weight="bold")
            if position % COLUMNS == 0:
                axes.set_ylabel("Post: gold read, still wrong, %", color=style.MUTED)
            axes.set_xlabel("Discipline, % of scored", color=style.MUTED)
        return style.write(figure, "failure-plane", "The failure plane", words)


def _draw_panel(
    axes: Axes,
    cells: Sequence[CellRow],
    conditions: Sequence[str],
    arrows: Sequence[Arrow],
    limits: tuple[float, float],
) -> None:
    axes.set_xlim(-0.03 * limits[0], limits[0])
    axes.set_ylim(-0.03 * limits[1], limits[1])
    axes.grid(color=style.GRID, linewidth=0.8)
    points = {
        row.condition: (100 * row.p_disc, 100 * row.p_post)
        for row in cells
        if row.p_disc is not None and row.p_post is not None
    }
    for start, end in arrows:
        if start in points and end in points and points[start] != points[end]:
            axes.annotate(
                "",
                points[end],
                points[start],
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": style.MUTED,
                    "linewidth": 1.1,
                    "shrinkA": 6,
                    "shrinkB": 6,
                    "mutation_scale": 9,
                },
            )
    for condition, point in points.items():
        _mark(axes, point, conditions.index(condition), clip=False)
    if cells and not any(row.n_known_gold for row in cells) and points:
        at = limits[0] / 2, 0.93 * limits[1]
        axes.text(*at, "gold unknown: no post", ha="center", color=style.MUTED, fontsize=10)


def _limit(shares: Iterable[float | None]) -> float:
    """The next ten above all, in percent."""
    return 10 * math.ceil(max([5.0, *(100 * share for share in shares if share is not None)]) * 1.05 / 10)


def _mark(axes: Axes, point: tuple[float, float], number: int, *, clip: bool) -> None:
    axes.plot(
        *([value] for value in point),
        marker=style.MARKERS[number % len(style.MARKERS)],
        color=style.SERIES[number % len(style.SERIES)],
        # Later marks are smaller, so that an earlier one shows around one that falls on it.
        markersize=max(6.5, 11.0 - 0.9 * number),
        markeredgecolor=style.PAPER,
        markeredgewidth=0.8,
        linestyle="none",
        clip_on=clip,
        zorder=3,
    )


def _legend_places(conditions: Sequence[str]) -> list[tuple[float, int]]:
    """Left edge and line of each entry, as wide as its name, in lines as wide as the picture."""
    places: list[tuple[float, int]] = []
    left, line = 0.0, 0
    for name in conditions:
        width = 20 + CHARACTER * len(name) + 16
        if left and left + width > style.WIDTH:
            left, line = 0.0, line + 1
        places.append((left, line))
        left += width
    return places


def _legend(axes: Axes, conditions: Sequence[str], places: Sequence[tuple[float, int]]) -> None:
    lines = places[-1][1] + 1 if places else 1
    axes.set_axis_off()
    axes.set_xlim(0, style.WIDTH)
    axes.set_ylim(lines * LEGEND_ROW + 10, 0)
    for number, (name, (left, line)) in enumerate(zip(conditions, places, strict=True)):
        height = line * LEGEND_ROW + LEGEND_ROW / 2
        _mark(axes, (left + 8, height), number, clip=False)
        axes.text(left + 20, height, name, va="center", color=style.INK)
