"""The chart is an SVG with a bar for each row."""

import re
from xml.etree import ElementTree

from bench.chart import Bar, draw

_SVG = "{http://www.w3.org/2000/svg}"
BARS = [Bar("plain <call>", 1.0, "ours"), Bar("over MCP", 1.3, "ours", most=1.4), Bar("a peer", 19.04, "peer")]
CHART = draw("Calls & more", "less is better", BARS, 4.0)


def test_bars_are_as_long_as_their_values() -> None:
    """Names are escaped; a bar that is too long is cut, and its number says so."""
    drawn = ElementTree.fromstring(CHART)
    texts = [text.text for text in drawn.iter(f"{_SVG}text")]
    bars = [(bar.get("width"), bar.get("class")) for bar in drawn.iter(f"{_SVG}rect")]

    assert texts == [
        *("Calls & more", "less is better"),
        *("plain <call>", "1.00", "over MCP", "1.30", "a peer", "… 19.0"),
    ]
    assert bars == [("100%", "paper"), ("132.5", "ours"), ("172.2", "ours"), ("530.0", "peer")]


def test_a_promise_is_marked() -> None:
    """By a line at the most that the row may cost; its number stands behind the line."""
    drawn = ElementTree.fromstring(CHART)
    marks = [mark.get("x1") for mark in drawn.iter(f"{_SVG}line")]
    values = [text.get("x") for text in drawn.iter(f"{_SVG}text") if text.text == "1.30"]

    assert (marks, values) == (["465.5"], ["473.5"])


def test_every_color_has_one_for_dark_pages() -> None:
    """Also that of the paper, so that text never stands on what it was not made for."""
    light, _, dark = CHART.partition("@media (prefers-color-scheme: dark)")
    drawn = {element.get("class") for element in ElementTree.fromstring(CHART).iter()} - {None}
    kinds = [set(re.findall(r"\.(\w+) \{", text)) for text in (light, dark)]

    assert kinds[0] == kinds[1] >= drawn
