"""A remembered call enters no more of our functions than were counted once, however busy the machine is.

A change that makes its way shorter, or longer for a good reason, writes the new number here.
"""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sidecall
from sidecall import Registry
from sidecall.http.application import Application
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Peer, exchange, scope_of, sized
from tests.kit.tools import echo

CALL = b'{"name": "echo", "args": {"text": "hello"}, "id": "call_1"}'
OURS = str(Path(sidecall.__file__).parent)
ALLOWED = 1.05


async def _count_once(app: Application, scope: dict[str, Any]) -> int:
    count = 0

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(OURS)

    peer = Peer([CALL])
    sys.setprofile(note)
    try:
        await app.serve({**scope, "state": {}}, peer.receive, peer.send)
    finally:
        sys.setprofile(None)
    assert peer.status == 200
    return count


@pytest.mark.parametrize(
    ("store", "headers", "counted"),
    [
        pytest.param("memory://", [], 54, id="plain"),
        pytest.param("memory://", [("prefer", "wait=10")], 148, id="in memory"),
        pytest.param("sqlite:///{}/ledger.db", [("prefer", "wait=10")], 161, id="in a file"),
    ],
)
async def test_a_client_that_waits_costs_no_more_than_it_did(
    tmp_path: Path, store: str, headers: list[tuple[str, str]], counted: int
) -> None:
    """What is written once, and what is written twice, beside a plain call."""
    settings = Settings(store=store.format(tmp_path), history="off")
    app = create_app(settings, Registry([echo]), Lifecycle())
    scope = scope_of("POST", "/tool_calls", [*sized(CALL), *headers])

    async with app.router.lifespan_context(app):
        app.state.parts.lifecycle.begin()
        for _ in range(2):
            assert (await exchange(app, scope | {"state": {}}, CALL)).status == 200
        # The smallest, since what is looked after once in a while may come in between.
        found = min([await _count_once(app, scope) for _ in range(5)])

    assert found <= counted * ALLOWED
