"""Send JSON that is small to write and large to read, and measure how long others wait."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import httpx

from bench.latency_probe import LatencyProbe, Seen
from bench.rounds import milliseconds
from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving

TOOLS = "trials/served/typed.py"
# The limit of a body, less the text around the bomb.
_MOST = 4 * 1024 * 1024 - 300
_BLOCKED = 0.1
_SMALL = 100_000
_PATIENCE = 100.0


@dataclass(frozen=True, slots=True)
class Bomb:
    """A bomb, and the expected answer."""

    what: str
    make: Callable[[], bytes]
    right: frozenset[int]
    must: str = "is refused"


_REFUSED = frozenset((400, 413, 422))
_ANSWERED = frozenset((200, 400, 413, 422))


def args(value: bytes, tool: str = "choose") -> bytes:
    """Write a call with these arguments."""
    return b'{"name": "%s", "id": "call_1", "args": {"one": "first", "rows": %s}}' % (tool.encode(), value)


def text(arguments: str) -> bytes:
    """Write a call with this text as arguments."""
    return json.dumps({"type": "function", "function": {"name": "rows", "arguments": arguments}}).encode()


def _filled(item: bytes, count: int | None = None) -> bytes:
    return b"[" + b",".join([item] * (count or _MOST // (len(item) + 1))) + b"]"


def _keys(count: int) -> bytes:
    return b"{" + b",".join(b'"%x":0' % number for number in range(count)) + b"}"


def _embed(keys: bytes) -> bytes:
    return b'{"name": "rows", "args": {}, ' + keys[1:]


BOMBS = (
    Bomb("100,000 levels", lambda: args(b"[" * 100_000 + b"]" * 100_000), _REFUSED),
    Bomb("100,000 levels of objects, not closed", lambda: b'{"a":' * 100_000, _REFUSED),
    Bomb("2,000,000 keys", lambda: args(_keys(2_000_000)), _REFUSED),
    Bomb("370,000 keys within 4 MB", lambda: args(_keys(370_000)), _ANSWERED, "is answered"),
    Bomb("370,000 keys beside the call", lambda: _embed(_keys(370_000)), _ANSWERED, "is answered"),
    Bomb("700,000 equal keys", lambda: args(b"{" + b",".join([b'"":0'] * 700_000) + b"}"), _ANSWERED, "is answered"),
    Bomb("1,400,000 empty arrays", lambda: args(_filled(b"[]")), _ANSWERED, "is answered"),
    Bomb("520,000 arrays in objects", lambda: args(_filled(b'{"":[]}')), _ANSWERED, "is answered"),
    Bomb("a number of 5,000 digits", lambda: args(b"1" * 5000), _REFUSED),
    Bomb("a number of 4,000 digits", lambda: args(b"1" * 4000), _ANSWERED, "is answered"),
    Bomb("14,000 numbers of 300 digits", lambda: b"[" + args(_filled(b"1" * 300)) + b"]", _ANSWERED, "is answered"),
    Bomb("NaN", lambda: args(b"NaN"), _REFUSED),
    Bomb("Infinity", lambda: args(b"-Infinity"), _REFUSED),
    Bomb("1e400", lambda: args(b"1e400"), _REFUSED),
    Bomb("a lone surrogate", lambda: args(b'"\\ud800"'), _REFUSED),
    Bomb("\\u0000 in a text", lambda: args(b'"\\u0000"'), _ANSWERED, "is answered"),
    Bomb("two equal keys", lambda: args(b'1, "rows": 2'), _ANSWERED, "is answered"),
    Bomb("a byte order mark", lambda: b"\xef\xbb\xbf" + args(b"1"), _REFUSED),
    Bomb("UTF-16", lambda: args(b"1").decode().encode("utf-16"), _REFUSED),
    Bomb("bytes that are no UTF-8", lambda: args(b'"\xff\xfe"'), _REFUSED),
    Bomb("a fence around 2,000 empty lines", lambda: text("```json\n" + "\n" * 2000), _ANSWERED, "is answered"),
    Bomb("20,000 objects written as text", lambda: args(_filled(b'"{}"', 20_000), "rows"), _ANSWERED, "is answered"),
    Bomb("20,000 nulls to be left out", lambda: args(_filled(b'{"a":null}', 20_000), "rows"), _ANSWERED, "is answered"),
    Bomb("100,000 values of a wrong type", lambda: args(_filled(b"1", 100_000), "rows"), _ANSWERED, "is answered"),
    Bomb("45,000 keys", lambda: args(_keys(45_000)), _ANSWERED, "is answered"),
    Bomb("20,000 arrays in objects", lambda: args(_filled(b'{"":[]}', 20_000)), _ANSWERED, "is answered"),
    Bomb("45,000 values of a wrong type", lambda: args(_filled(b"1", 45_000), "rows"), _ANSWERED, "is answered"),
    Bomb("a text of 2,000,000 commas", lambda: args(b'"%s"' % (b",-" * 2_000_000)), _ANSWERED, "is answered"),
    Bomb("a tool's name of 4 MB", lambda: b'{"name": "%s", "args": {}}' % (b"a" * _MOST), _ANSWERED, "is answered"),
)


def run_shortly() -> Iterator[Finding]:
    """Try the small ones of S2."""
    with serving(TOOLS) as server:
        for bomb in BOMBS:
            if len(bomb.make()) < _SMALL:
                yield _dropped(server, bomb, nullcontext(Seen([0.0])))


def run() -> Iterator[Finding]:
    """Try S2: each bomb on its own, while a second connection asks `GET /healthz` all the time."""
    with serving(TOOLS) as server:
        for bomb in BOMBS:
            yield _dropped(server, bomb, LatencyProbe(server.port))


def _dropped(server: Server, bomb: Bomb, watching: AbstractContextManager[Seen]) -> Finding:
    body = bomb.make()
    path = "/tool_calls/batch" if body.startswith(b"[") else "/tool_calls"
    before = server.resident_mb(peak=True)
    with watching as probe, httpx.Client(trust_env=False, timeout=_PATIENCE) as client:
        try:
            answer: httpx.Response | None = client.post(
                server.url + path, content=body, headers={"content-type": "application/json"}
            )
        except httpx.HTTPError as error:
            answer, said = None, type(error).__name__
    is_right = answer is not None and answer.status_code in bomb.right and _is_told(answer)
    if answer is not None:
        said = f"{answer.status_code} {_said(answer)}"
    grown = server.resident_mb(peak=True) - before
    return Finding(
        "S2",
        f"{bomb.what} ({_size(len(body))})",
        f"{bomb.must}; nobody waits for 100 ms",
        f"{said}; others waited for {milliseconds(probe.worst)}; peak {grown:+.0f} MB",
        is_right and not probe.failures,
        probe.worst < _BLOCKED,
    )


def _is_told(answer: httpx.Response) -> bool:
    """Return whether an answer is a problem, or a message; a long one holds no more than a model reads."""
    is_problem = answer.headers["content-type"].startswith("application/problem+json")
    return answer.status_code == http.client.OK or is_problem


def _said(answer: httpx.Response) -> str:
    said: Any = answer.json()
    said = said[0] if isinstance(said, list) else said
    if answer.status_code != http.client.OK:
        return str(said["type"]).rpartition(":")[2]
    error = said.get("response_metadata", {}).get("error", {})
    size = f" in {_size(len(answer.content))}" if len(answer.content) > 10_000 else ""
    return f"{error.get('kind', said.get('status', 'answered'))}{size}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count > 100_000 else f"{count / 1000:.1f} KB"
