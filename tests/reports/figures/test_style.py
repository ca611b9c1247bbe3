"""How pictures are embedded: no id, colour, font or date of their own."""

import re

from reports.figures import style


def _picture(name: str) -> str:
    with style.drawing():
        figure = style.blank(120)
        axes = style.panel(figure, 60, 10, 200, 80)
        axes.barh([0, 1], [3, 2], color=style.SERIES[0], edgecolor=style.PAPER, hatch="//")
        axes.text(1, 0, "a <b> & $x$", color=style.INK)
        return style.write(figure, name, "A <title>", "Words & more")


def test_a_picture_is_one_element_with_title_and_words() -> None:
    svg = _picture("p")
    assert svg.startswith('<svg viewBox="0 0 760 120" role="img" aria-labelledby="p-title p-words">')
    assert '<title id="p-title">A &lt;title&gt;</title><desc id="p-words">Words &amp; more</desc>' in svg
    assert svg.endswith("</svg>")


def test_every_id_bears_the_pictures_name() -> None:
    svg = _picture("p")
    assert all(found.startswith("p-") for found in re.findall(r'\bid="([^"]*)"', svg))
    assert all(found.startswith("p-") for found in re.findall(r"url\(#([^)]*)\)", svg))


def test_colours_are_names_also_behind_a_hatch_and_text_is_text_of_the_page() -> None:
    svg = _picture("p")
    assert "var(--series-1)" in svg
    assert not re.search(r"#[0-9a-f]{6}", svg)
    assert "font-family" not in svg
    assert "a &lt;b&gt; &amp; $x$</text>" in svg
    assert "<style" not in svg
    assert "<metadata" not in svg


def test_the_same_picture_is_drawn_the_same_twice() -> None:
    assert _picture("p") == _picture("p")


def test_panels_stand_where_they_are_put() -> None:
    figure = style.blank(200, width=400)
    box = style.panel(figure, 100, 50, 200, 100).get_position()
    assert [round(value, 6) for value in (box.x0, box.y0, box.x1, box.y1)] == [0.25, 0.25, 0.75, 0.75]
