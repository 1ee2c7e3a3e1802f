"""The server's work between the bytes of a request and the bytes of its answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.loops._loop import Answer, loop
from bench.tools import echo
from sidecall import Registry
from sidecall.http.context import RequestContext
from sidecall.main import create_app
from sidecall.rest.answers import answer_call
from sidecall.settings import Settings


@asynccontextmanager
async def ready() -> AsyncIterator[Answer]:
    """Build a server that keeps nothing, as the floor does, and take what its routes work with.

    What is noted for the history would wait for a turn of the loop, which this never takes.
    """
    app = create_app(Settings(store="memory://", history="off"), Registry([echo]))
    context = RequestContext()
    parts = app.state.parts

    async def answer(body: bytes) -> bytes:
        reply = await answer_call(parts, body, context)
        return reply.body

    async with app.router.lifespan_context(app):
        yield answer


if __name__ == "__main__":
    loop(ready())
