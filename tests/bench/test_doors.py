"""What a call costs by form and door, and what is promised of it."""

from types import ModuleType

import httpx
import pytest

from bench import doors, other_servers
from bench.doors import MCP, PLAIN, ROWS, SERVER, WAIT, summarize
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


@pytest.mark.parametrize("part", [doors, other_servers], ids=lambda part: part.__name__)
def test_every_promise_is_about_rows_that_are_measured(part: ModuleType) -> None:
    """None is left out by its name, and each row has its server."""
    assert [bar.name for bar in part.BARS if not {bar.above, bar.below} <= part.ROWS.keys()] == []
    assert {row.server for row in part.ROWS.values()} == part.SERVERS.keys()


def test_other_servers_are_compared_with_the_plain_call_and_over_mcp() -> None:
    """By the processor time of a call."""
    paces = {
        other_servers.OURS: [Pace(10_000, 1.0, 2.0, 50.0)] * 3,
        other_servers.OURS_MCP: [Pace(8_000, 1.0, 2.0, 60.0)] * 3,
        other_servers.FASTMCP: [Pace(900, 9.0, 20.0, 1_080.0)] * 3,
    }

    part = other_servers.summarize(paces, {"mcpo, echo": "does not start"})

    assert [(figure.measured.median, figure.met) for figure in part.figures] == [(18.0, True)]
    assert part.rows[2] == (other_servers.FASTMCP, "900", "9.00", "20.00", "1,080", "21.60")
    assert part.skipped == {"mcpo, echo": "does not start"}


async def test_a_remembered_call_is_answered_as_others_are() -> None:
    """With the result, since it is done before its client has waited enough."""
    request, app = ROWS[WAIT].request, create_app(Settings(store="memory://", history="off"), Registry([echo]))
    reached = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=reached, base_url="http://127.0.0.1") as client,
    ):
        answer = await client.post(request.path, content=request.body, headers=dict(request.headers))

    assert (answer.status_code, answer.json()["content"]) == (200, "hi")
    assert answer.headers["preference-applied"] == "wait=10"


@pytest.mark.parametrize("name", OWN)
async def test_every_door_answers(name: str) -> None:
    """With 200."""
    request, app = OWN[name], create_app(Settings(store="memory://", history="off"), Registry([echo]))
    body = request.body.encode()
    headers = [*request.headers.items(), *([("content-length", str(len(body)))] if body else [])]

    peer = await exchange(app, scope_of(request.method, request.path, headers), body)

    assert peer.status == 200
