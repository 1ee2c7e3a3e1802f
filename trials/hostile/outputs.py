"""Call tools that return and raise the worst that there is, and see who has to suffer for it."""

import re
import resource
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from bench.latency_probe import LatencyProbe
from bench.rounds import milliseconds
from tests.kit.servers import Server
from trials.finding import Finding
from trials.served.broken_objects import SECRET
from trials.served.hostile import worst
from trials.serving import serving

TOOLS = "trials/served/hostile.py"
_MB = 1_000_000
# The budget of one answer, and some room for its envelope.
_MOST = 1_200_000
# Seconds that others may wait meanwhile: 50 MB made on the event loop take a tenth alone.
_LONGEST = 1.0
_ENOUGH_KB = 4_000_000
_LEAKS = 10
_MEMORY_LIMIT = 6 * 1024**3
_KINDS = frozenset(("success", "output_error", "execution_error", "tool_error", "timeout"))


def run_shortly() -> Iterator[Finding]:
    """Try the small ones of S6."""
    with serving(TOOLS) as server, httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client:
        yield _all(client, server)


def run() -> Iterator[Finding]:
    """Try S6."""
    with serving(TOOLS) as server, httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client:
        yield _all(client, server)
        yield _long(client, server)
        yield _artifact(client, server)
        yield from (_apart(client, server, *row) for row in _APART)
        yield from (_at_length(client, server, name) for name in _AT_LENGTH)
    with serving(TOOLS) as server, httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client:
        yield from (
            _held(client, server, name) for name in ("fail_at_length_thread", "fail_at_length_on_purpose_inline")
        )
    with serving(TOOLS) as server, httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client:
        yield from (_endless(client, server, name) for name in _ENDLESS)


def _all(client: httpx.Client, server: Server) -> Finding:
    kinds: Counter[str] = Counter()
    bad = []
    names = [tool.name for tool in worst if "at_length" not in tool.name]
    with LatencyProbe(server.port) as seen:
        for name in names:
            answer = client.post("/tool_calls", json={"name": name, "args": {}})
            kinds[_kind(answer)] += 1
            if _kind(answer) not in _KINDS or SECRET in answer.text:
                bad.append(f"{name}: {answer.status_code}")
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return Finding(
        "S6",
        f"{len(names)} tools, on the loop, in threads and processes, that return NaN, cycles, bytes, what crashes when "
        "it is printed, 100,000 levels, keys that are no texts, torn generators, or raise all that can be raised",
        "each answered with a message, never 500; secrets in exceptions never in an answer",
        f"{found}; {len(bad)} bad ones {' '.join(bad)}; others waited for up to {milliseconds(seen.worst)}",
        not bad and not seen.failures,
    )


def _kind(answer: httpx.Response) -> str:
    if answer.status_code != 200:
        return str(answer.status_code)
    said: dict[str, Any] = answer.json()
    return str(said["response_metadata"].get("error", {}).get("kind", said["status"]))


def _long(client: httpx.Client, server: Server) -> Finding:
    megabytes = 1024 if _available_kb() >= _ENOUGH_KB else 300
    with LatencyProbe(server.port) as seen:
        answer = client.post("/tool_calls", json={"name": "long_text", "args": {"megabytes": megabytes}})
    is_marked = answer.json()["response_metadata"].get("truncated") is True
    return Finding(
        "S6",
        f"a text of {megabytes} MB",
        "cut, with a mark, to what a model may read",
        f"{len(answer.content) / _MB:.1f} MB answered, {'marked' if is_marked else 'not marked'}; peak "
        f"{server.resident_mb(peak=True):,.0f} MB; others waited for up to {milliseconds(seen.worst)}",
        is_marked and len(answer.content) <= _MOST and not seen.failures,
    )


def _available_kb() -> int:
    found = re.search(r"^MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def _artifact(client: httpx.Client, server: Server) -> Finding:
    with LatencyProbe(server.port) as seen:
        answer = client.post("/tool_calls", json={"name": "large_artifact", "args": {"megabytes": 10}})
    said = answer.json()
    return Finding(
        "S6",
        "an artifact of 10 MB",
        "sent whole, since programs and not models read it; others wait for less than a second",
        f"{len(answer.content) / _MB:.1f} MB; others waited for up to {milliseconds(seen.worst)}",
        said["status"] == "success" and len(said["artifact"]) == 10 * 1024,
        seen.worst < _LONGEST,
    )


# Tools in processes, what they return, and the kinds of answers that are right.
_APART = (
    ("large_structure", 47, "a list of numbers", "success", "cut to what a model may read"),
    ("large_artifact_apart", 15, "an artifact of numbers", "success", "sent whole"),
    ("large_artifact_apart", 47, "an artifact of numbers", "output_error", "refused in words"),
)


def _apart(client: httpx.Client, server: Server, name: str, megabytes: int, what: str, kind: str, how: str) -> Finding:
    with LatencyProbe(server.port) as seen:
        answer = client.post("/tool_calls", json={"name": name, "args": {"megabytes": megabytes}})
    return Finding(
        "S6",
        f"{what} of {megabytes} MB, from a process",
        f"{how}; others wait for less than a second",
        f"{_kind(answer)} in {len(answer.content) / _MB:.1f} MB; others waited for up to {milliseconds(seen.worst)}",
        _kind(answer) == kind and (how == "sent whole" or len(answer.content) <= _MOST) and not seen.failures,
        seen.worst < _LONGEST,
    )


_AT_LENGTH = (
    "fail_at_length_inline",
    "fail_at_length_thread",
    "fail_at_length_process",
    "fail_at_length_on_purpose_inline",
    "fail_at_length_on_purpose_process",
)


def _at_length(client: httpx.Client, server: Server, name: str) -> Finding:
    logged = server.log_file.stat().st_size
    with LatencyProbe(server.port) as seen:
        answer = client.post("/tool_calls", json={"name": name, "args": {}})
    logged = server.log_file.stat().st_size - logged
    return Finding(
        "S6",
        f"an exception with a text of 50 MB ({name})",
        "answered with content that a model may read; secret absent; log and others not flooded (1 MB, a second)",
        f"{_kind(answer)} in {len(answer.content) / _MB:.1f} MB; {logged / _MB:.1f} MB logged; others waited for up to "
        f"{milliseconds(seen.worst)}",
        _kind(answer) in _KINDS
        and SECRET not in answer.text
        and len(answer.json()["content"]) <= _MOST
        and logged <= _MB,
        seen.worst < _LONGEST,
    )


def _held(client: httpx.Client, server: Server, name: str) -> Finding:
    client.post("/tool_calls", json={"name": name, "args": {}})
    before = server.resident_mb()
    for _ in range(_LEAKS):
        client.post("/tool_calls", json={"name": name, "args": {}})
    grown = server.resident_mb() - before
    return Finding(
        "S6",
        f"{_LEAKS} more of them ({name})",
        "memory is given back: ≤ 150 MB more, of which results may take 64",
        f"{grown:+,.0f} MB",
        grown <= 150,
    )


_ENDLESS = ("endless_parts_apart", "endless_parts", "endless_series")


def _endless(client: httpx.Client, server: Server, name: str) -> Finding:
    # The server must not take this machine's memory with it.
    resource.prlimit(server.pid, resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
    try:
        answer = client.post("/tool_calls", json={"name": name, "args": {}}, timeout=30)
        kind, held = _kind(answer), server.resident_mb()
        time.sleep(2)
        grown = f"{server.resident_mb() - held:+.0f} MB in the 2 s after it"
        is_bounded = server.resident_mb() - held <= 20
    except httpx.HTTPError as error:
        kind, grown, is_bounded = type(error).__name__, "the server is gone or stuck", False
    return Finding(
        "S6",
        f"a result without end ({name}, timeout=1)",
        "timeout or output_error; then it takes no more memory",
        f"{kind}; {grown}",
        kind in ("timeout", "output_error") and is_bounded,
    )
