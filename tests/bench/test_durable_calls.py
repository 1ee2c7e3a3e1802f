"""The table of remembered calls, and what is promised of them."""

from bench.durable.remembered import PLAIN, REMEMBERED, summarize
from bench.load import Pace


def test_rates_and_waits_are_promised_for_each_database() -> None:
    """The rate of many clients and the wait of a few, beside a plain call; what is not there has no figures."""
    paces = {
        PLAIN + "on SQLite": [Pace(10_000, 1.0, 2.0, 50.0)] * 3,
        REMEMBERED + "on SQLite": [Pace(4_000, 3.5, 9.0, 200.0, 60.0)] * 3,
        PLAIN + "on SQLite, 64 connections": [Pace(12_000, 5.0, 9.0, 50.0)] * 3,
        REMEMBERED + "on SQLite, 64 connections": [Pace(9_000, 7.0, 14.0, 100.0, 50.0)] * 3,
        "dbos on SQLite": [Pace(100, 50.0, 90.0, 6000.0)] * 3,
    }

    part = summarize(paces, {REMEMBERED + "on PostgreSQL": "PostgreSQL is not installed"})

    assert [(figure.name, figure.measured.median, figure.bar, figure.met) for figure in part.figures] == [
        ("remembered on SQLite ÷ plain", 0.4, 0.25, True),
        ("durable calls on SQLite, 64 connections", 9_000, 8_000, True),
        ("durable calls on SQLite, 16 connections, p50", 3.5, 3.0, False),
    ]
    assert part.rows[1] == ("remembered on SQLite", "4,000", "4,000 to 4,000", "3.50", "9.00", "200", "60", "0.40")
    assert part.rows[3][0:2] + part.rows[3][-1:] == ("remembered on SQLite, 64 connections", "9,000", "0.75")
    assert part.rows[4] == ("dbos on SQLite", "100", "100 to 100", "50.00", "90.00", "6,000", "0", "")
