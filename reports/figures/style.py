"""How every picture looks: sizes in pixels, colours as names of the page, no state shared between calls.

A picture is drawn once, in the light colours below, and each of them becomes a CSS variable of the page
that embeds it, so that the same vectors stand in light and dark. Text stays text.
"""

import io
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from html import escape
from types import MappingProxyType
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

WIDTH: Final = 760
DOTS: Final = 72
"""Pixels an inch: what matplotlib's SVG units are."""

INK = "#1b2430"
MUTED = "#5b6775"
GRID = "#dde2e8"
PAPER = "#ffffff"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#5aa9dc", "#7a5195", "#6b6b6b")
"""Okabe and Ito's colours, which the colour-blind tell apart, yellow and black exchanged for contrast."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")

CSS_NAMES: Mapping[str, str] = MappingProxyType(
    {
        INK: "--ink",
        MUTED: "--muted",
        GRID: "--grid",
        PAPER: "--paper",
        **{colour: f"--series-{position}" for position, colour in enumerate(SERIES, start=1)},
    }
)

_COLOUR = re.compile(r"(?<=: )(" + "|".join(CSS_NAMES) + r")\b", re.IGNORECASE)
_FILL = re.compile(r'(?<= )fill="(#[0-9a-f]{6})"')
_IDENTIFIER = re.compile(r'((?<![\w-])id="|url\(#|href="#)')
_FONT_FAMILY = re.compile(r"font-family: [^;\"]*;? ?")
_DROPPED = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)


def blank(height: float, width: float = WIDTH) -> Figure:
    """An empty picture of so many pixels."""
    figure = Figure(figsize=(width / DOTS, height / DOTS), dpi=DOTS, facecolor="none")
    FigureCanvasSVG(figure)
    return figure


def panel(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place given in pixels from the upper left corner."""
    total_width, total_height = (inches * DOTS for inches in figure.get_size_inches())
    axes = figure.add_axes(
        (left / total_width, 1 - (top + height) / total_height, width / total_width, height / total_height)
    )
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(GRID)
    axes.tick_params(colors=MUTED, labelsize=10, length=0, pad=4)
    axes.set_axisbelow(True)
    return axes


def write(figure: Figure, name: str, title: str, words: str) -> str:
    """The picture as one ``<svg>`` element for a page, with its title and its content in words.

    Args:
        figure: Drawn under ``drawing``.
        name: Distinct on the page; it begins every id inside.
        title: What the picture is.
        words: What it shows, for who cannot see it.
    """
    written = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(written, format="svg", metadata={"Date": None})
    return _embeddable(written.getvalue(), name, title, words)


def drawing() -> AbstractContextManager[None]:
    """The settings under which a picture is drawn."""
    return mpl.rc_context(
        {
            "svg.fonttype": "none",
            "font.size": 11.0,
            "font.family": ["DejaVu Sans"],
            "hatch.linewidth": 0.9,
            "text.parse_math": False,
        }
    )


def _embeddable(svg: str, name: str, title: str, words: str) -> str:
    """One element without prolog, styles and ids that could meet others of the page."""
    inside = svg[svg.index(">", svg.index("<svg")) + 1 :]
    inside = _DROPPED.sub("", inside)
    inside = _IDENTIFIER.sub(rf"\g<1>{name}-", inside)
    inside = _FONT_FAMILY.sub("", inside)
    inside = _FILL.sub(r'style="fill: \1"', inside)
    inside = _COLOUR.sub(lambda match: f"var({CSS_NAMES[match[0].lower()]})", inside)
    box = svg[svg.index("viewBox=") :].split('"')[1]
    return (
        f'<svg viewBox="{box}" role="img" aria-labelledby="{name}-title {name}-words">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-words">{escape(words)}</desc>'
        f"{inside.strip()}"
    )
