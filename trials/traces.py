"""Follow calls with OpenTelemetry: spans that belong together, and a collector that does not answer."""

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import httpx
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from bench.environments import ROOT
from bench.load import Request, drive
from tests.kit.collector import Collector, attributes, collecting
from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving

_TRACE = "0af7651916cd43dd8448eb211c80319c"
_PARENT = "b7ad6b7169203331"
# Must be nowhere in what is sent to the collector.
_CANARY = "canary-31415926"
_CALLS = (
    ("on the event loop, failing", "fail", {"text": _CANARY}, "tool_error"),
    ("on the event loop", "tell_all", {"size": 7}, ""),
    ("in a thread", "add", {"a": 31415926, "b": 1}, ""),
    ("in a process", "add_apart", {"a": 31415926, "b": 1}, ""),
)
_REQUIRED = {"gen_ai.operation.name": "execute_tool"}
_ROUNDS = 7
_CALL = Request("/tool_calls", json.dumps({"name": "add_inline", "args": {"a": 1, "b": 2}, "id": "call_1"}))
_SPARED = 0.95
_MOST_MB = 50


def run() -> Iterator[Finding]:
    """Try O2 and O4."""
    yield from run_shortly()
    yield _unheard()


def run_shortly() -> Iterator[Finding]:
    """Try O2."""
    with collecting() as collector:
        with serving(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url) as server:
            for _, tool, args, _ in _CALLS:
                _ask(server, tool, args)
            log = server.log_file
            code = _ended(server)
            traced = _traces_in(log.read_text())
        yield from (_followed(collector, *called) for called in _CALLS)
        yield _kept_silent(collector, traced, code)


def _ask(server: Server, tool: str, args: object) -> None:
    headers = {"traceparent": f"00-{_TRACE}-{_PARENT}-01"}
    with httpx.Client(trust_env=False, timeout=30) as client:
        client.post(f"{server.url}/tool_calls", json={"name": tool, "args": args, "id": "call_1"}, headers=headers)


def _ended(server: Server) -> int | None:
    server.terminate()
    return server.exit_code()


def _traces_in(log: str) -> set[str]:
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return {line["trace_id"] for line in lines if "trace_id" in line}


def _followed(collector: Collector, where: str, tool: str, _args: object, failure: str) -> Finding:
    spans = [span for span in collector.spans if span.name == f"execute_tool {tool}"]
    found = attributes(spans[0]) if spans else {}
    wanted = {**_REQUIRED, "gen_ai.tool.name": tool, **({"error.type": failure} if failure else {})}
    is_continued = bool(spans) and (spans[0].trace_id.hex(), spans[0].parent_span_id.hex()) == (_TRACE, _PARENT)
    missing = [name for name, value in wanted.items() if found.get(name) != value]
    return Finding(
        "O2",
        f"`traceparent` sent with a call that runs {where}",
        "one span `execute_tool {name}`, internal, in the sender's trace, with the required attributes",
        f"{len(spans)} spans, {'the' if is_continued else 'another'} trace; missing: {', '.join(missing) or 'none'}",
        len(spans) == 1 and spans[0].kind == Span.SPAN_KIND_INTERNAL and is_continued and not missing,
    )


def _kept_silent(collector: Collector, traced: set[str], code: int | None) -> Finding:
    sent = b"".join(collector.bodies)
    leaks = [canary for canary in (_CANARY, "31415926", "31415927") if canary.encode() in sent]
    names = {name for span in collector.spans for name in attributes(span)}
    opt_in = sorted(names & {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"})
    return Finding(
        "O2",
        "arguments, results and what exceptions say",
        "nowhere in the spans; lines of the log name no other trace; all sent before the exit with code 0",
        f"{len(leaks) + len(opt_in)} leaks; {len(sent):,} bytes sent; exit code {code}",
        not leaks and not opt_in and traced <= {_TRACE} and code == 0,
    )


@contextmanager
def _collector_apart() -> Iterator[str]:
    """Run a collector in a process of its own, so that the load generator has this one to itself."""
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _unheard() -> Finding:
    with (
        socket.create_server(("127.0.0.1", 0)) as deaf,
        _collector_apart() as answering,
        serving(OTEL_EXPORTER_OTLP_ENDPOINT=answering) as heard,
        serving(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{deaf.getsockname()[1]}") as unheard,
    ):
        turns = {"heard": partial(drive, heard, _CALL), "unheard": partial(drive, unheard, _CALL)}
        for turn in turns.values():
            turn()
        before, logged = unheard.resident_mb(), unheard.log_file.stat().st_size
        paces = [{name: turn().calls_per_second for name, turn in turns.items()} for _ in range(_ROUNDS)]
        grown, logged = unheard.resident_mb() - before, unheard.log_file.stat().st_size - logged
        began = unheard.terminate()
        code = unheard.exit_code()
        seconds = time.monotonic() - began
    ratio = statistics.median(pace["unheard"] / pace["heard"] for pace in paces)
    medians = {name: statistics.median(pace[name] for pace in paces) for name in turns}
    return Finding(
        "O4",
        f"a collector that accepts and never answers, under full load, beside one that does, in {_ROUNDS} turns each",
        f"throughput ≥ 95 %; ≤ {_MOST_MB} MB more; ends within 5 s",
        f"{medians['unheard']:,.0f} calls/s against {medians['heard']:,.0f}, ratio {ratio:.2f}; {grown:+.0f} MB; "
        f"{logged / 1000:.0f} KB logged; exit code {code} after {seconds:.1f} s",
        code == 0,
        ratio >= _SPARED and grown <= _MOST_MB and seconds <= 5,
    )


def main() -> None:
    """Collect for another process, until it is told to stop."""
    with collecting() as collector:
        print(collector.url, flush=True)
        while True:
            time.sleep(0.5)
            collector.bodies.clear()


if __name__ == "__main__":
    main()
