"""The chart is an SVG with a bar for each row."""

from xml.etree import ElementTree

from bench.chart import draw


def test_the_highest_row_comes_first_and_reaches_furthest() -> None:
    """Names are escaped, colors tell ours, peers and floors apart."""
    chart = ElementTree.fromstring(
        draw("Calls & more", {"peer, echo": [1.0, 2.0, 3.0], "Sidecall, <async>": [1000.0], "a floor": [500.0]})
    )
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in chart.iter(f"{space}text")]
    bars = [(bar.get("width"), bar.get("fill")) for bar in chart.iter(f"{space}rect")]

    assert texts == ["Calls & more", "Sidecall, <async>", "1,000", "a floor", "500", "peer, echo", "2"]
    assert bars == [("100%", "#ffffff"), ("550.0", "#2563eb"), ("275.0", "#9ca3af"), ("1.1", "#d97706")]
