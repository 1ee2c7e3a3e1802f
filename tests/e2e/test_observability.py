"""A real server is seen from outside: its log, its numbers and its spans."""

import json
import os
import pty
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from tests.e2e.conftest import Serve
from tests.kit.collector import Collector
from tests.kit.servers import CLIENT

TOOLS = '''
import warnings

from opentelemetry import trace

from sidecall import ToolContext, tool


@tool
def work(*, context: ToolContext) -> str:
    """Work."""
    context.log.info("working")
    warnings.warn("old")
    with trace.get_tracer("a library").start_as_current_span("SELECT"):
        return "done"
'''
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
CALL = {"name": "work", "args": {}, "id": "call_1"}


@pytest.fixture
def tools(tmp_path: Path) -> str:
    """Write the tools of this module to a file."""
    file = tmp_path / "mine.py"
    file.write_text(TOOLS)
    return str(file)


def test_a_call_is_a_span_in_its_senders_trace(start_server: Serve, collector: Collector, tools: str) -> None:
    """It is sent before the server has ended; what the tool does is its child, and the log names the trace."""
    server = start_server("--tools", tools, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)

    CLIENT.post(f"{server.url}/tool_calls", json=CALL, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    code = server.stop()
    span, child = collector.by_name["execute_tool work"], collector.by_name["SELECT"]

    assert code == 0
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert (child.trace_id.hex(), child.parent_span_id) == (TRACE, span.span_id)
    assert {line["trace_id"] for line in map(json.loads, server.log.splitlines()) if "tool" in line} == {TRACE}


def test_the_spans_of_many_calls_are_all_sent(start_server: Serve, collector: Collector, tools: str) -> None:
    """Each once, with the one that its tool makes itself, although the server is stopped at once."""
    server = start_server("--tools", tools, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)

    for _ in range(3):
        CLIENT.post(f"{server.url}/tool_calls/batch", json=[CALL] * 100)
    told = (
        CLIENT.get(f"{server.url}/status").json()["process"]["spans_dropped"],
        CLIENT.get(f"{server.url}/metrics").text,
    )
    code = server.stop()
    calls = {span.span_id for span in collector.spans if span.name == "execute_tool work"}
    parents = [span.parent_span_id for span in collector.spans if span.name == "SELECT"]

    assert code == 0
    assert (len(calls), len(parents), set(parents)) == (300, 300, calls)
    assert told[0] == 0
    assert "\nsidecall_spans_dropped_total 0.0\n" in told[1]


def test_a_collector_that_never_answers_harms_nobody(start_server: Serve, tools: str) -> None:
    """Calls are answered, the server ends, and the log says what was lost."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        endpoint = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        server = start_server("--tools", tools, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
        answers = [CLIENT.post(f"{server.url}/tool_calls", json=CALL).json() for _ in range(3)]
        code = server.stop()

    assert [answer["content"] for answer in answers] == ["done"] * 3
    assert code == 0
    server.wait_for("the last spans were not sent within 3 seconds")


def test_without_a_terminal_every_line_is_json(start_server: Serve, tools: str) -> None:
    """The server's, those of its workers, of tools, and warnings; each names what it belongs to."""
    server = start_server("--tools", tools, "--workers", "2", SIDECALL_LOG_CALLS="true")

    answer = CLIENT.post(f"{server.url}/tool_calls", json=CALL, headers={"X-Request-Id": "req-1"}).json()
    server.stop()
    lines = [json.loads(line) for line in server.log.splitlines()]
    of_the_call = [line for line in lines if line.get("tool") == "work"]

    assert {"timestamp", "level", "logger", "event"} <= set.intersection(*(set(line) for line in lines))
    assert [(line["logger"], line["level"]) for line in of_the_call] == [
        ("sidecall.tool", "info"),
        ("py.warnings", "warning"),
        ("sidecall", "info"),
    ]
    assert {(line["call_id"], line["invocation_id"], line["request_id"]) for line in of_the_call} == {
        ("call_1", answer["id"], "req-1")
    }
    assert (of_the_call[2]["event"], of_the_call[2]["outcome"]) == ("tool call", "success")


def test_on_a_terminal_lines_are_for_people(tmp_path: Path) -> None:
    """In columns and colors."""
    (tmp_path / "mine.py").touch()
    terminal, theirs = pty.openpty()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "sidecall", "serve", "--port", port, "--tools", "mine.py"]
        subprocess.run(command, cwd=tmp_path, stderr=theirs, check=False, timeout=60)
    shown = os.read(terminal, 100_000).decode()
    os.close(terminal)
    os.close(theirs)

    assert "\x1b[1mcannot listen on 127.0.0.1:" in shown
    assert '{"' not in shown


def test_the_numbers_are_there_for_prometheus(start_server: Serve, tools: str) -> None:
    """How full the pool of threads is among them."""
    server = start_server("--tools", tools, SIDECALL_THREADS="3")

    CLIENT.post(f"{server.url}/tool_calls", json=CALL)
    lines = CLIENT.get(f"{server.url}/metrics").text.splitlines()

    assert 'sidecall_calls_total{outcome="success",tool="work"} 1.0' in lines
    assert 'sidecall_executor_size{executor="thread"} 3.0' in lines


def test_connections_and_requests_are_counted_while_they_are_there(start_server: Serve, tools: str) -> None:
    """The one that asks is the only one with a request."""
    server = start_server("--tools", tools)

    with httpx.Client(base_url=server.url) as asking, httpx.Client(base_url=server.url) as idle:
        idle.get("/healthz")
        lines = asking.get("/metrics").text.splitlines()

    assert "sidecall_connections 2.0" in lines
    assert "sidecall_requests_in_flight 1.0" in lines


IN_PROCESSES = '''
import asyncio

from opentelemetry import trace

from sidecall import tool


@tool(executor="process")
def compute() -> str:
    """Compute."""
    with trace.get_tracer("a library").start_as_current_span("of compute"):
        return "done"


@tool(executor="process")
async def fetch() -> str:
    """Fetch."""
    await asyncio.sleep(0)
    with trace.get_tracer("a library").start_as_current_span("of fetch"):
        return "done"


@tool(executor="process")
def other() -> str:
    """Compute something else, for nobody's trace."""
    with trace.get_tracer("a library").start_as_current_span("of other"):
        return "done"
'''


def test_what_a_tool_traces_in_a_process_is_a_child_too(
    start_server: Serve, collector: Collector, tmp_path: Path
) -> None:
    """Of its own call's span, in sync and async tools, one after the other in one process."""
    (tmp_path / "mine.py").write_text(IN_PROCESSES)
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "SIDECALL_PROCESSES": "1"}
    server = start_server("--tools", str(tmp_path / "mine.py"), **settings)
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}

    for name, beside in (("compute", headers), ("fetch", headers), ("other", {})):
        CLIENT.post(f"{server.url}/tool_calls", json={**CALL, "name": name}, headers=beside).raise_for_status()
    collector.wait_for("of compute", "of fetch", "of other")
    server.stop()
    spans = collector.by_name
    parents = {
        name: (spans[f"of {name}"].trace_id, spans[f"of {name}"].parent_span_id)
        for name in ("compute", "fetch", "other")
    }

    assert parents == {
        name: (spans[f"execute_tool {name}"].trace_id, spans[f"execute_tool {name}"].span_id) for name in parents
    }
    assert spans["of compute"].trace_id.hex() == spans["of fetch"].trace_id.hex() == TRACE
    assert spans["of other"].trace_id.hex() != TRACE


SIGNING = '''
from sidecall import tool


@tool
async def sign(text: str, api_key: str) -> str:
    """Sign."""
    return "signed"
'''


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        pytest.param({}, {}, id="as it comes"),
        pytest.param(
            {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
            {
                "gen_ai.tool.call.arguments": {"text": "hi", "api_key": "[redacted]"},
                "gen_ai.tool.call.result": "signed",
            },
            id="wanted",
        ),
    ],
)
def test_arguments_and_results_are_told_where_that_is_wanted(
    start_server: Serve, collector: Collector, tmp_path: Path, environment: dict[str, str], told: dict[str, object]
) -> None:
    """Without secrets, and else not at all."""
    (tmp_path / "mine.py").write_text(SIGNING)
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, **environment}
    server = start_server("--tools", str(tmp_path / "mine.py"), **settings)

    call = {"name": "sign", "args": {"text": "hi", "api_key": "s3cret"}, "id": "call_1"}
    CLIENT.post(f"{server.url}/tool_calls", json=call).raise_for_status()
    server.stop()
    attributes = {it.key: it.value.string_value for it in collector.by_name["execute_tool sign"].attributes}
    content = {key: json.loads(attributes[key]) for key in attributes.keys() & {*told, "gen_ai.tool.call.arguments"}}

    assert content == told


def test_the_status_is_seen_from_a_terminal(start_server: Serve, tools: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one screen, or as JSON; where uvicorn serves, requests and connections are counted."""
    server = start_server("--tools", tools)
    monkeypatch.setenv("SIDECALL_URL", server.url)
    monkeypatch.setenv("COLUMNS", "120")
    CLIENT.post(f"{server.url}/tool_calls", json={**CALL, "name": "nope"})

    printed, as_json = (CliRunner().invoke(cli, ["status", *options]) for options in ([], ["--json"]))
    found = json.loads(as_json.stdout)

    assert printed.stdout.split()[:2] == ["server", "ready,"]
    assert "unknown: unknown_tool, 1 time," in printed.stdout
    assert (found["process"]["requests_in_flight"], found["process"]["connections"] > 0) == (1, True)
    assert found["store"]["usable"] is True
