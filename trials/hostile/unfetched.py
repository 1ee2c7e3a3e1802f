"""Let a server keep what is never fetched: calls that wait for a person, unread events and contents."""

import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx

from bench.latency_probe import LatencyProbe
from tests.kit.servers import CLIENT, Server
from trials.finding import Finding
from trials.hostile.shapes import SHAPES
from trials.serving import serving

TOOLS = "trials/served/slow_clients.py"
# The limit of the Kubernetes example.
_MOST_MB = 256
_READERS = 10
_MEGABYTES = 20
# Seconds until all answers are ready and kept by the server.
_MOMENT = 2.0
_PAPERS: tuple[tuple[str, Any], ...] = (
    ("one text of 4 MB", ["x" * 4_100_000]),
    ("45,000 short texts", ["x" * 80] * 45_000),
    ("15,000 empty objects, in 90 KB", [[{}]] * 15_000),
)


def run_shortly() -> Iterator[Finding]:
    """Try a few readers."""
    yield _unread("artifacts of 10 MB", 3)


def run() -> Iterator[Finding]:
    """Try S8: 60 calls that wait, of each kind, and 10 readers who take nothing of 20 MB each, of each shape."""
    for paper in _PAPERS:
        yield _signed(*paper)
    for shape in SHAPES:
        yield _unread(shape)
    yield _undownloaded()


def _signed(what: str, rows: Any, count: int = 60) -> Finding:
    with serving(TOOLS) as server, httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client:
        calls = [{"name": "sign", "args": {"rows": rows}, "id": f"call_{number}"} for number in range(count)]
        answers = [client.post("/tool_calls", json=call) for call in calls]
        listed = client.get("/approvals")
        peak = server.resident_mb(peak=True)
    statuses = Counter(answer.status_code for answer in answers)
    are_told = all(answer.status_code == 202 or answer.headers.get("Retry-After") == "60" for answer in answers)
    found = ", ".join(f"{count} with {status}" for status, count in sorted(statuses.items()))
    return Finding(
        "S8",
        f"{count} calls of {what} that wait for a person",
        f"202, or 503 that says when to come again; the list is short; peak ≤ {_MOST_MB} MB",
        f"{found}; {len(listed.content) / 1000:,.1f} KB listed; peak {peak:,.0f} MB",
        set(statuses) <= {202, 503} and statuses[202] > 0 and are_told and len(listed.content) < 1_500_000,
        peak <= _MOST_MB,
    )


def _unread(shape: str, count: int = _READERS) -> Finding:
    call = json.dumps(SHAPES[shape]).encode()
    head = b"POST /tool_calls/batch HTTP/1.1\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n"
    with (
        serving(TOOLS) as server,
        _taking_nothing(server, head, call, count),
        LatencyProbe(server.port, every=0.1) as probe,
    ):
        time.sleep(_MOMENT)
        told = CLIENT.post(
            f"{server.url}/tool_calls",
            json={"name": "draw", "args": {"megabytes": 1}},
            headers={"Accept": "text/event-stream"},
            timeout=60,
        )
        peak = server.resident_mb(peak=True, alone=True)
    return Finding(
        "S8",
        f"{count} readers who take nothing of events of {_MEGABYTES} MB each, {shape}",
        f"one who reads gets all; peak ≤ {_MOST_MB} MB",
        f"{len(told.content) / 1e6:.1f} MB read; peak {peak:,.0f} MB; others: {probe}",
        told.text.startswith("event: message\n") and told.text.endswith("}\n\n") and not probe.failures,
        peak <= _MOST_MB,
    )


def _undownloaded() -> Finding:
    with serving(TOOLS) as server, httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client:
        answer = client.post("/tool_calls", json={"name": "write", "args": {"megabytes": _MEGABYTES}}).json()
        place = answer["response_metadata"]["artifact_url"]
        with _taking_nothing(server, f"GET {place} HTTP/1.1\r\n".encode(), b"", _READERS):
            time.sleep(_MOMENT)
            whole = client.get(place)
            peak = server.resident_mb(peak=True)
    return Finding(
        "S8",
        f"{_READERS} clients who take nothing of a content of {_MEGABYTES} MB",
        f"one who reads gets the whole; peak ≤ {_MOST_MB} MB",
        f"{len(whole.content) / 1e6:.1f} MB read; peak {peak:,.0f} MB",
        len(whole.content) == _MEGABYTES * 1024 * 1024,
        peak <= _MOST_MB,
    )


@contextmanager
def _taking_nothing(server: Server, head: bytes, body: bytes, count: int) -> Iterator[None]:
    """Send a request on connections that are never read."""
    with ExitStack() as stack:
        for _ in range(count):
            sock = stack.enter_context(socket.socket())
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect((server.host, server.port))
            sock.sendall(head + b"Host: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        yield
