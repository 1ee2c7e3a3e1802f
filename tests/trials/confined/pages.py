"""Fetch pages that are as large as they may be, larger, and much larger than they look."""

import asyncio
import os
import time
import zlib
from collections.abc import Iterator
from types import ModuleType

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.kit.calls import run as run_tool
from tests.outgoing.peers import serving_app
from tests.tools import shipped
from tests.trials.confined.viewing import forget_peak, read_peak
from tests.trials.finding import Finding

_MEGABYTE = 1_000_000
_PARAGRAPH = b"<p>A line of a page with <b>bold</b> words and a <a href='/next'>link</a>, as long as many are.</p>\n"
_MOST_SECONDS, _MOST_GROWTH = 0.5, 64.0


def run() -> Iterator[Finding]:
    """Fetch each of them."""
    module = shipped.load("fetch")
    if module.html_to_markdown is None:
        yield Finding("pages", "web_fetch", "html-to-markdown is there", "it is not installed", holds=False)
        return
    bomb = _pack(100 * _MEGABYTE)
    with serving_app(lambda _: Starlette(routes=[Route("/{size:int}", _give), _route_bomb(bomb)])) as url:
        allowed = os.environ.get("SIDECALL_OUTGOING_PRIVATE_HOSTS")
        os.environ["SIDECALL_OUTGOING_PRIVATE_HOSTS"] = url.removeprefix("http://")
        try:
            yield _fetch(module, f"{url}/5", "a page of 5 MB, nearly the most that is taken", "read", "success")
            yield _fetch(module, f"{url}/10", "a page of 10 MB", "refused", "error")
            yield _fetch(module, f"{url}/bomb", f"{len(bomb):,} bytes that are 100 MB", "refused", "error")
        finally:
            if allowed is None:
                del os.environ["SIDECALL_OUTGOING_PRIVATE_HOSTS"]
            else:
                os.environ["SIDECALL_OUTGOING_PRIVATE_HOSTS"] = allowed


async def _give(request: Request) -> Response:
    size = request.path_params["size"] * _MEGABYTE
    return Response(_PARAGRAPH * (size // len(_PARAGRAPH)), media_type="text/html")


def _route_bomb(bomb: bytes) -> Route:
    async def give(_: Request) -> Response:
        return Response(bomb, media_type="text/html", headers={"Content-Encoding": "gzip"})

    return Route("/bomb", give)


def _pack(size: int) -> bytes:
    """Pack a page of so many bytes, never holding all of it."""
    packing = zlib.compressobj(9, wbits=31)
    packed = [packing.compress(b"<p>"), *(packing.compress(b"a" * _MEGABYTE) for _ in range(size // _MEGABYTE))]
    return b"".join([*packed, packing.flush()])


def _fetch(module: ModuleType, url: str, page: str, bar: str, status: str) -> Finding:
    forget_peak()
    before, begun, worked = read_peak(), time.perf_counter(), time.process_time()
    message = asyncio.run(run_tool(module.web_fetch, {"url": url}))
    seconds, work = time.perf_counter() - begun, time.process_time() - worked
    grown = (read_peak() - before) / 1024
    is_refused = message.status == "error" and str(message.content).startswith("content_too_large")
    return Finding(
        "pages",
        f"`web_fetch` of {page}",
        bar if status == "success" else f"{bar} within 0.5 s, with less than 64 MB more memory",
        f"{message.status} after {seconds * 1000:.0f} ms, {work * 1000:.0f} of them work; {grown:.0f} MB more",
        holds=message.status == status and is_refused == (status == "error"),
        in_time=status == "success" or (seconds < _MOST_SECONDS and grown < _MOST_GROWTH),
    )
