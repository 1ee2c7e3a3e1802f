"""What calls that wait take, on a worker and in memory, and what is promised of it."""

from bench import fleet, slow_calls
from bench.fleet import Shares
from bench.flood import Flood
from bench.load import Pace
from bench.slow_calls import FLOOR, OURS, Found


def test_the_memory_of_a_call_is_compared_with_starlettes() -> None:
    """Of what each adds to the server; the other promises are about ours alone."""
    flood = Flood(10_000, 9_990, 7.5)

    part = slow_calls.summarize({OURS: [Found(flood, 283.0, 18.0)] * 2, FLOOR: [Found(flood, 221.0, 15.0)] * 2}, {})

    assert [(figure.name, figure.measured.median, figure.met) for figure in part.figures] == [
        ("memory of a call that waits ÷ Starlette's", 1.2, False),
        ("slow calls answered", 10_000, True),
        ("slow calls in flight at once", 9_990, False),
        ("slow calls, all of them in total", 7.5, True),
        ("slow calls, peak resident memory", 283.0, True),
    ]
    assert part.rows[0] == (OURS, "10,000", "9,990", "7.5", "283", "18.0")


def test_a_flood_that_fails_has_no_figures() -> None:
    """It is listed with the reason."""
    part = slow_calls.summarize({}, {OURS: "too few files"})

    assert (part.figures, part.skipped) == ((), {"Sidecall, 10,000 slow calls": "too few files"})


def test_workers_are_compared_with_processes_and_servers_with_those_without_a_fleet() -> None:
    """By the wait of the middle call, by rate and by processor time; a row that failed takes only its own promises."""
    shares = {
        "on a worker, one client": [Shares(Pace(300, 3.0, 4.0, 700), 600, 200)],
        "in a process, one client": [Shares(Pace(900, 1.2, 2.0, 400), 0, 0)],
    }
    inline = {
        "inline, with a fleet, 16 clients": [Pace(9_900, 1.0, 2.0, 50.0)] * 3,
        "inline, without one, 16 clients": [Pace(10_000, 1.0, 2.0, used) for used in (49.0, 50.0, 49.5)],
    }

    part = fleet.summarize(shares, inline, {"crunch_one": [2.0], "crunch_two": [3.8]}, 26.0, {})

    assert [(figure.name, figure.measured.median, figure.met) for figure in part.figures] == [
        ("p50 on a worker ÷ in a process, one client", 2.5, True),
        ("inline calls with a fleet ÷ without one, by processor time", 0.99, True),
        ("memory of an idle worker beyond its tools", 26.0, True),
        ("calls that compute, two workers ÷ one", 1.9, True),
    ]
    assert part.rows[0] == ("on a worker, one client", "300", "3.00", "4.00", "700", "600", "200")
