"""Malformed requests, each made from a number, so that a failing one can be sent again."""

import itertools
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MOST_AHEAD = 5
_PATHS = (
    "/tool_calls /tool_calls?format=anthropic /tool_calls/batch /tools /tools?strict=true&format=gemini"
    " /tools/calculator /healthz /readyz /metrics /approvals /approvals/nobody"
    " /contents/nothing /openapi.json /nowhere"
).split()
_TAILS = "/ . .. ? & = ; : @ ~ a %20 %00 %ff %2f %E2%80 % format= name=calculator strict=yes".split()
_METHODS = ("GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE")
_TYPES = (*["application/json"] * 6, "application/json; charset=latin-1", "text/plain", "", "a/b+json")
_HEADERS = (
    ("Accept", "text/event-stream"),
    ("Accept", "*/*;q=0"),
    ("Accept-Encoding", "gzip, br, \xff"),
    ("X-Request-Id", "a b\tc"),
    ("X-Request-Id", "x" * 5000),
    ("If-None-Match", '"", *, W/"'),
    ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz"),
    ("Tracestate", "=,=,=" * 50),
    ("Authorization", "Bearer \x80\x81"),
    ("Content-Encoding", "gzip"),
    ("Forwarded", "for=;;;"),
    ("Cookie", "a=b; " * 300),
    ("Range", "bytes=-1"),
    ("Prefer", "wait=99999999999999999999"),
)
_VALUES: Sequence[Any] = (
    None, True, 0, -1, 1.5, 2**63, 10**400, 1e308, "", "\x00", "\ud800", "a" * 2000, "6 * 7", "NaN", "{}", "[[]]",
    "```json\n{}\n```", [], {}, [[[[[]]]]], {"": {"": {}}}, ["1", None, {}], "2026-11-21T09:00:00Z", "Europe/Paris",
)  # fmt: skip
_KEYS = ("name", "args", "id", "type", "function", "arguments", "input", "call_id", "state", "context", "", "\x00", "x")
_CALLS: Sequence[Mapping[str, Any]] = (
    {"name": "calculator", "args": {"expression": "6 * 7"}, "id": "call_1", "type": "tool_call"},
    {"id": "a", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "2 ** 9"}'}},
    {"type": "function_call", "call_id": "b", "name": "current_time", "arguments": "{}"},
    {"type": "tool_use", "id": "c", "name": "rows", "input": {"rows": [{"a": 1}, {"b": None}], "on": "2026-11-21"}},
    {"name": "apart", "args": {"text": "x"}, "state": {"a": 1}, "context": {"b": 2}},
    {"name": "choose", "args": {"one": "first", "either": 1}},
)
_TOKENS = (
    b"\r\n", b"\n", b"\r", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"{", b"[", b'"', b"\\u", b"0" * 400,
    b"e999", b"NaN", b":", b",", b" ", b"-1", b"HTTP/1.1", b"BREW ", b"Host: b\r\n", b"ffffffffffffffff\r\n",
    b"0\r\n\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n",
    b"Upgrade: websocket\r\nConnection: upgrade\r\n", b"Expect: 100-continue\r\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is sent at once on one connection; `owed` answers must come, unless it is None and anything may happen."""

    requests: int
    pieces: tuple[bytes, ...]
    owed: int | None


# Writes one request as the dice fall.
Write = Callable[[random.Random], bytes]


def attempt(seed: int) -> Attempt:
    """Make the attempt of a number: requests that are framed right, or wrong from the first byte on."""
    return attempt_with(seed, _framed)


def attempt_with(seed: int, write: Write) -> Attempt:
    """Make an attempt from requests of another source."""
    dice = random.Random(seed)
    count = dice.randint(1, _MOST_AHEAD)
    if dice.random() < 0.6:
        sent = b"".join(write(dice) for _ in range(count))
        return Attempt(count, _torn(dice, sent), count)
    sent = b"".join(write(dice) for _ in range(dice.randint(1, 2)))
    for _ in range(dice.randint(1, 4)):
        sent = dice.choice(_MANGLINGS)(dice, sent)
    return Attempt(1, _torn(dice, sent), None)


def _framed(dice: random.Random) -> bytes:
    """Write a request that is valid HTTP."""
    method, path = ("POST", "/tool_calls") if dice.random() < 0.6 else (dice.choice(_METHODS), _path(dice))
    body = b"" if method in ("GET", "HEAD") and dice.random() < 0.9 else _body(dice)
    return frame(dice, method, path, body)


def frame(dice: random.Random, method: str, path: str, body: bytes, *always: str) -> bytes:
    """Write a request with its headers, and some odd ones."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Type: {dice.choice(_TYPES)}"]
    lines += [f"{name}: {value}" for name, value in dice.sample(_HEADERS, dice.randint(0, 3))]
    lines += always
    is_chunked = bool(body) and dice.random() < 0.3
    lines += ["Transfer-Encoding: chunked"] if is_chunked else [f"Content-Length: {len(body)}"]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    return head + (_chunked(dice, body) if is_chunked else body)


def _path(dice: random.Random) -> str:
    path = dice.choice(_PATHS)
    if dice.random() < 0.8:
        return path
    return path + "".join(dice.choice(_TAILS) for _ in range(dice.randint(1, 30)))


def _body(dice: random.Random) -> bytes:
    calls = [dict(dice.choice(_CALLS)) for _ in range(dice.randint(1, 3))]
    return alter(dice, calls if dice.random() < 0.3 else calls[0])


def alter(dice: random.Random, said: Any) -> bytes:
    """Write JSON with some values replaced, and some bytes too."""
    for _ in range(dice.randint(0, 3)):
        said = _altered(dice, said)
    body = json.dumps(said, ensure_ascii=dice.random() < 0.5).encode("utf-8", "surrogatepass")
    if dice.random() < 0.4:
        body = dice.choice(_MANGLINGS)(dice, body)
    return body


def _altered(dice: random.Random, value: Any) -> Any:
    """Put something else into one place of JSON."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        return {**value, dice.choice((key, key, *_KEYS)): _altered(dice, value[key])}
    if isinstance(value, list) and value and dice.random() < 0.8:
        place = dice.randrange(len(value))
        return [*value[:place], _altered(dice, value[place]), *value[place:]]
    return dice.choice(_VALUES)


def _chunked(dice: random.Random, body: bytes) -> bytes:
    size = dice.randint(1, len(body))
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def _torn(dice: random.Random, sent: bytes) -> tuple[bytes, ...]:
    """Let it arrive in up to three pieces."""
    cuts = sorted(dice.randint(0, len(sent)) for _ in range(dice.choice((0, 0, 0, 1, 2))))
    ends = [0, *cuts, len(sent)]
    return tuple(sent[start:end] for start, end in itertools.pairwise(ends) if end > start)


def _span(dice: random.Random, sent: bytes) -> tuple[int, int]:
    start = dice.randint(0, len(sent))
    return start, min(len(sent), start + dice.randint(1, 40))


def _cut_off(dice: random.Random, sent: bytes) -> bytes:
    return sent[: dice.randint(0, len(sent))]


def _cut_out(dice: random.Random, sent: bytes) -> bytes:
    start, end = _span(dice, sent)
    return sent[:start] + sent[end:]


def _double(dice: random.Random, sent: bytes) -> bytes:
    start, end = _span(dice, sent)
    return sent[:end] + sent[start:end] * dice.choice((1, 1, 1, 200)) + sent[end:]


def _swap(dice: random.Random, sent: bytes) -> bytes:
    start, middle = _span(dice, sent)
    end = min(len(sent), middle + dice.randint(1, 40))
    return sent[:start] + sent[middle:end] + sent[start:middle] + sent[end:]


def _overwrite(dice: random.Random, sent: bytes) -> bytes:
    mutable = bytearray(sent)
    for _ in range(dice.randint(1, 8) if sent else 0):
        mutable[dice.randrange(len(sent))] = dice.randrange(256)
    return bytes(mutable)


def _insert(dice: random.Random, sent: bytes) -> bytes:
    place = dice.randint(0, len(sent))
    return sent[:place] + dice.choice(_TOKENS) * dice.choice((1, 1, 1, 60)) + sent[place:]


_MANGLINGS: Sequence[Callable[[random.Random, bytes], bytes]] = (
    _cut_off, _cut_out, _double, _swap, _overwrite, _insert, _insert,
)  # fmt: skip
