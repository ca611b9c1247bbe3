"""Pictures of a report as vectors for a page, one module each, and the choice among them."""

from reports.figures.decomposition import draw_decomposition
from reports.figures.effects import draw_effects
from reports.figures.failure_plane import draw_failure_plane
from reports.figures.funnel import draw_funnel
from reports.prose import PictureKind, pair_name
from reports.report import Report


def draw(report: Report, kind: PictureKind, words: str) -> str:
    """One picture of a report as an ``<svg>`` element; equal reports give equal text."""
    if kind == "effects":
        return draw_effects(report.pairs, [pair_name(row) for row in report.pairs], words)
    if kind == "failure_plane":
        arrows = dict.fromkeys((row.baseline, row.treatment) for row in report.pairs if not row.select_on)
        return draw_failure_plane(report.cells, list(arrows), words)
    if kind == "decomposition":
        return draw_decomposition(report.cells, words)
    return draw_funnel(report.funnel, words)
