"""Fetch pages that are as large as they may be, larger, and much larger than they look."""

import asyncio
import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.kit.calls import run as run_tool
from tests.kit.serving import serving_app
from tests.tools import shipped
from trials.confined.viewing import forget_peak, read_peak
from trials.finding import Finding

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
        yield _fetch(f"{url}/bomb", f"{len(bomb):,} bytes that are 100 MB", "refused", "error")
        yield _fetch(f"{url}/10", "a page of 10 MB", "refused", "error")
        yield _fetch(f"{url}/5", "a page of 5 MB, nearly the most that is taken", "read", "success")


async def _give(request: Request) -> Response:
    size = request.path_params["size"] * _MEGABYTE
    return Response(_PARAGRAPH * max(1, size // len(_PARAGRAPH)), media_type="text/html")


def _route_bomb(bomb: bytes) -> Route:
    async def give(_: Request) -> Response:
        return Response(bomb, media_type="text/html", headers={"Content-Encoding": "gzip"})

    return Route("/bomb", give)


def _pack(size: int) -> bytes:
    """Pack a page of so many bytes, never holding all of it."""
    packing = zlib.compressobj(9, wbits=31)
    packed = [packing.compress(b"<p>"), *(packing.compress(b"a" * _MEGABYTE) for _ in range(size // _MEGABYTE))]
    return b"".join([*packed, packing.flush()])


def _fetch(url: str, page: str, bar: str, status: str) -> Finding:
    """Fetch a page in its own process, without free memory that another page has left."""
    asked = [sys.executable, "-m", __name__, url]
    allowed = {**os.environ, "SIDECALL_OUTGOING_PRIVATE_HOSTS": url.removeprefix("http://").partition("/")[0]}
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env=allowed)
    told = json.loads(done.stdout)
    is_refused = told["status"] == "error" and told["content"].startswith("content_too_large")
    return Finding(
        "pages",
        f"`web_fetch` of {page}",
        bar if status == "success" else f"{bar} within 0.5 s, with less than 64 MB more memory",
        f"{told['status']} after {told['seconds'] * 1000:.0f} ms, {told['work'] * 1000:.0f} of them work; "
        f"{told['grown']:.0f} MB more",
        holds=told["status"] == status and is_refused == (status == "error"),
        in_time=status == "success" or (told["seconds"] < _MOST_SECONDS and told["grown"] < _MOST_GROWTH),
    )


def _measure(url: str) -> dict[str, Any]:
    fetch = shipped.load("fetch").web_fetch
    # What is made once for all pages.
    asyncio.run(run_tool(fetch, {"url": url.rpartition("/")[0] + "/0"}))
    forget_peak()
    before, begun, worked = read_peak(), time.perf_counter(), time.process_time()
    message = asyncio.run(run_tool(fetch, {"url": url}))
    seconds, work = time.perf_counter() - begun, time.process_time() - worked
    said = {"status": message.status, "content": str(message.content)[:100]}
    return {**said, "seconds": seconds, "work": work, "grown": (read_peak() - before) / 1024}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
