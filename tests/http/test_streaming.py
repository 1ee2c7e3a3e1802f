"""What makes the pieces of a stream ends with it."""

import asyncio
import gc
import weakref
from collections.abc import AsyncGenerator, Iterator

import pytest

from sidecall.http.server_sent_events import PieceStream
from tests.kit.asgi import Peer, scope_of


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Let nothing be freed that knows itself."""
    gc.disable()
    yield
    gc.enable()


class Source:
    """Something large that makes pieces, and knows whether it was closed."""

    is_closed = False

    async def make(self, count: int) -> AsyncGenerator[bytes]:
        """Make so many pieces."""
        try:
            for number in range(count):
                yield b"%d" % number
                await asyncio.sleep(0)
        finally:
            self.is_closed = True


async def _send(source: Source, peer: Peer, count: int) -> None:
    pieces = source.make(count)
    stream = PieceStream(pieces, await anext(pieces), media_type="text/plain", headers={"X-Name": "value"})
    await stream(scope_of("GET", "/"), peer.receive, peer.send)


async def test_all_pieces_are_sent() -> None:
    """The first one, which was made before, among them, and no length."""
    peer, source = Peer(), Source()

    await _send(source, peer, 3)

    assert (peer.status, peer.content, source.is_closed) == (200, b"012", True)
    assert peer.headers == [("content-type", "text/plain; charset=utf-8"), ("x-name", "value")]
    assert [message.get("more_body", False) for message in peer.sent[1:]] == [True, True, True, False]


@pytest.mark.parametrize("reads", [True, False])
async def test_nothing_is_left_of_a_stream_whose_client_hangs_up(no_collector: None, reads: bool) -> None:
    """Whether it read or not, and without a help of the collector of cycles."""
    peer, source = Peer(takes=asyncio.Event()), Source()
    if reads:
        peer.takes = None
    asyncio.get_running_loop().call_later(0.2, peer.gone.set)

    await _send(source, peer, 10**9)
    for _ in range(3):
        await asyncio.sleep(0)
    is_closed, left = source.is_closed, weakref.ref(source)
    del source

    assert (is_closed, left()) == (True, None)
