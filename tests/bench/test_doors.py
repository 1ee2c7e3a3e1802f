"""What a call costs by form and door, and what is promised of it."""

import pytest

from bench.doors import BARS, MCP, PLAIN, ROWS, SERVER, summarize
from bench.load import Pace
from bench.rows import FLOOR
from sidecall import Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import exchange, scope_of
from tests.kit.tools import echo

OWN = {name: row.request for name, row in ROWS.items() if row.server == SERVER and name != "GET /readyz"}


def test_doors_are_compared_with_the_plain_call() -> None:
    """By the processor time of a call."""
    part = summarize(
        {FLOOR: [Pace(1, 1, 1, 50.0)] * 3, PLAIN: [Pace(1, 1, 1, 40.0)] * 3, MCP: [Pace(1, 1, 1, 60)] * 3}, {}
    )

    assert part.rows == (
        (FLOOR, "50.0", "50.0 to 50.0", "1.25"),
        (PLAIN, "40.0", "40.0 to 40.0", "1.00"),
        (MCP, "60.0", "60.0 to 60.0", "1.50"),
    )
    assert [(figure.name, figure.measured.median, figure.met) for figure in part.figures] == [
        (f"{PLAIN} ÷ Starlette floor", 1.25, True),
        (f"{MCP} ÷ {PLAIN}", 1.5, False),
    ]


def test_every_promise_is_about_rows_that_are_measured() -> None:
    """None is left out by its name."""
    assert [bar.name for bar in BARS if not {bar.above, bar.below} <= ROWS.keys()] == []


@pytest.mark.parametrize("name", OWN)
async def test_every_door_answers(name: str) -> None:
    """With 200."""
    request, app = OWN[name], create_app(Settings(store="memory://", history="off"), Registry([echo]))
    body = request.body.encode()
    headers = [*request.headers.items(), *([("content-length", str(len(body)))] if body else [])]

    peer = await exchange(app, scope_of(request.method, request.path, headers), body)

    assert peer.status == 200
