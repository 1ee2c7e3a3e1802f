"""Charts are drawn of any numbers, also of none."""

import pytest

from sidecall.features.console.charts import HEIGHT, WIDTH, Point, draw_bars, draw_line, round_up, write


@pytest.mark.parametrize(
    ("value", "top"),
    [(0, 1), (0.03, 0.05), (1, 1), (1.01, 2), (57.0447, 100), (20, 20), (201, 500), (5e6, 5e6), (1e300, 1e300)],
)
def test_an_axis_ends_at_a_round_number(value: float, top: float) -> None:
    """At a 1, 2 or 5, and never below the highest value."""
    assert round_up(value) == pytest.approx(top)


@pytest.mark.parametrize("values", [[], [None], [0.0], [3.0], [1.0, None, 2.0, 5.0], [None, None], [0.1] * 168])
def test_what_is_drawn_is_in_its_box(values: list[float | None]) -> None:
    """A gap in the values is one in the line."""
    points = [Point(f"{index}:00", value, bad=(value or 0) / 2) for index, value in enumerate(values)]

    line, bars = draw_line("Line", points, " ms"), draw_bars("Bars", points)

    places = [float(it) for path in line.lines for it in path.replace("M", "").replace("L", " ").split()]
    assert all(0 <= place <= WIDTH for place in places)
    assert all(0 <= x <= WIDTH and y >= 0 and h >= 0 and y + h <= HEIGHT for x, y, _, h, _ in bars.bars)
    runs = "".join("x" if value is not None else " " for value in values).split()
    assert (len(line.lines), len(line.areas)) == (len(runs), len(runs))
    assert len([bar for bar in bars.bars if bar[4]]) == len([value for value in values if value])


def test_a_chart_says_in_words_what_it_shows() -> None:
    """For those who do not see it."""
    points = [Point("a", 12.345), Point("b", 1234.5), Point("c", 3.0)]

    assert draw_line("Time", points, " ms").text == "Time: 3 ms at the end, 1,234 ms at most."
    assert draw_line("Time", []).text == "Time: nothing is known yet."
    assert [write(it) for it in (0, 0.5, 12.345, 99.99, 1234567.0)] == ["0", "0.5", "12.3", "100", "1,234,567"]
