"""Each call is a span, named after the conventions for generative AI, in the trace of its caller."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

from sidecall import Secret, ToolContext, ToolException, ToolMessage, tool
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.log_lines import CallLines
from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.spans import Spans
from sidecall.kernel.core.invocation import CallRequest
from tests.kit.calls import write_request

Run = Callable[..., Awaitable[ToolMessage]]

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


class Traced:
    """A provider that keeps its spans here, and a watch that uses it."""

    def __init__(self, redaction: Redaction | None = None, **options: Any) -> None:
        self._kept = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False, **options)
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.watch = CallTelemetry(Metrics(), CallLines(), Spans(self.provider, redaction))

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        """What has ended, by name."""
        return {span.name: span for span in self._kept.get_finished_spans()}


@tool
async def login(user: str, password: str) -> dict[str, str]:
    """Log in."""
    if user == "nobody":
        raise ToolException("No.")
    return {"user": user, "token": "canary-4711"}


LOGIN = {"user": "ada", "password": "canary-4711"}


def _request(user: Any = "ada", **headers: str) -> CallRequest:
    args = {"user": user, "password": "canary-4711"}
    return write_request("login", args, headers=headers)


async def test_a_span_has_the_names_of_the_conventions(run_watched: Run) -> None:
    """Of arguments and results it says nothing."""
    traced = Traced()

    message = await run_watched(traced.watch, login, _request())
    span = traced.spans["execute_tool login"]

    assert (span.kind, span.status.status_code, span.parent) == (SpanKind.INTERNAL, StatusCode.UNSET, None)
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "login",
        "gen_ai.tool.description": "Log in.",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
        "sidecall.invocation.id": message.id,
    }


@pytest.mark.parametrize("recorded", [None, Redaction()], ids=["small", "whole"])
async def test_a_span_names_the_conversation(run_watched: Run, recorded: Redaction | None) -> None:
    """Where its program has named one."""
    traced = Traced(recorded)

    await run_watched(traced.watch, login, write_request("login", LOGIN, headers={"sidecall-conversation": "chat"}))
    attributes = traced.spans["execute_tool login"].attributes or {}

    assert attributes["gen_ai.conversation.id"] == "chat"


async def test_long_attributes_are_cut(run_watched: Run) -> None:
    """Callers may make them as long as a body."""
    traced = Traced(Redaction())
    long = "i" * 1_000_000
    request = write_request("login", {"user": [["v" * 1000] * 50] * 50, "password": "canary-4711"}, id=long)

    message = await run_watched(traced.watch, login, request)
    attributes = traced.spans["execute_tool login"].attributes or {}

    assert message.tool_call_id == long
    assert attributes["gen_ai.tool.call.id"] == "i" * 256 + "… 999744 more characters"
    assert {name: len(str(value)) < 70_000 for name, value in attributes.items() if len(str(value)) > 1000} == {
        "gen_ai.tool.call.arguments": True
    }


@pytest.mark.parametrize(("user", "kind"), [("nobody", "tool_error"), (1, "invalid_arguments")])
async def test_a_failure_has_its_kind(run_watched: Run, user: Any, kind: str) -> None:
    """What it says may be nobody's business."""
    traced = Traced()

    await run_watched(traced.watch, login, _request(user))
    span = traced.spans["execute_tool login"]

    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert (span.attributes or {})["error.type"] == kind
    assert span.events == ()


async def test_a_call_that_waits_for_a_person_has_not_failed(run_watched: Run) -> None:
    """It ends here all the same."""
    traced = Traced()
    offered = tool("login", description="Log in.", requires_approval=True)(lambda: None)
    request = write_request("login")

    await asyncio.gather(run_watched(traced.watch, offered, request), return_exceptions=True)
    span = traced.spans["execute_tool login"]

    assert span.status.status_code == StatusCode.UNSET
    assert "error.type" not in (span.attributes or {})


async def test_a_call_belongs_to_the_trace_of_its_sender(run_watched: Run) -> None:
    """As the header `traceparent` says."""
    traced = Traced()

    await run_watched(traced.watch, login, _request(traceparent=f"00-{TRACE}-{PARENT}-01", tracestate="a=b"))
    span = traced.spans["execute_tool login"]

    assert f"{span.get_span_context().trace_id:032x}" == TRACE
    assert span.parent is not None
    assert (f"{span.parent.span_id:016x}", span.parent.is_remote) == (PARENT, True)
    assert span.get_span_context().trace_state.to_header() == "a=b"


@pytest.mark.parametrize(
    "sent",
    [
        f"ff-{TRACE}-{PARENT}-01",  # no such version
        f"00-{'0' * 32}-{PARENT}-01",  # no trace
        f"00-{TRACE}-{'0' * 16}-01",  # no span
        f"00-{TRACE[1:]}-{PARENT}-01",
        "\r\nforged",
    ],
)
async def test_what_is_no_trace_is_ignored(run_watched: Run, sent: str) -> None:
    """The call begins a trace of its own."""
    traced = Traced()

    await run_watched(traced.watch, login, _request(traceparent=sent))
    span = traced.spans["execute_tool login"]

    assert span.parent is None
    assert f"{span.get_span_context().trace_id:032x}" != TRACE


async def test_a_span_that_is_under_way_beats_the_header(run_watched: Run) -> None:
    """It is of somebody who has read the header already."""
    traced = Traced()
    tracer = traced.provider.get_tracer("host")

    with tracer.start_as_current_span("POST /tool_calls") as around:
        await run_watched(traced.watch, login, _request(traceparent=f"00-{TRACE}-{PARENT}-01"))
    parent = traced.spans["execute_tool login"].parent

    assert parent is not None
    assert parent.span_id == around.get_span_context().span_id


@pytest.mark.parametrize("how", ["inline", "thread"])
async def test_what_a_tool_traces_is_a_child_of_its_call(run_watched: Run, how: Any) -> None:
    """In a thread too; after the call nothing is under way."""
    traced = Traced()

    @tool("login", executor=how)
    def work(user: str, password: str) -> None:
        """Work."""
        traced.provider.get_tracer("a library").start_span("SELECT").end()

    await run_watched(traced.watch, work, _request())
    inner, outer = traced.spans["SELECT"], traced.spans["execute_tool login"]

    assert inner.parent is not None
    assert inner.parent.span_id == outer.get_span_context().span_id
    assert not trace.get_current_span().get_span_context().is_valid


async def test_calls_at_the_same_time_do_not_mix(run_watched: Run) -> None:
    """Each has its own child."""
    traced = Traced()
    together = asyncio.Barrier(2)

    @tool("login")
    async def work(user: str, password: str) -> None:
        """Work."""
        await together.wait()
        traced.provider.get_tracer("a library").start_span(user).end()

    await asyncio.gather(*(run_watched(traced.watch, work, _request(user)) for user in ("ada", "bob")))
    parents = {name: span.parent for name, span in traced.spans.items() if name in ("ada", "bob")}

    assert parents["ada"] is not None
    assert parents["bob"] is not None
    assert parents["ada"].span_id != parents["bob"].span_id


async def test_arguments_and_results_are_told_on_request_but_for_secrets(run_watched: Run) -> None:
    """As JSON."""
    traced = Traced(Redaction())

    await run_watched(traced.watch, login, _request())
    attributes = traced.spans["execute_tool login"].attributes or {}

    assert json.loads(str(attributes["gen_ai.tool.call.arguments"])) == {"user": "ada", "password": "[redacted]"}
    assert json.loads(str(attributes["gen_ai.tool.call.result"])) == {"user": "ada", "token": "[redacted]"}


async def test_a_secret_that_the_tool_was_given_is_in_no_arguments(
    run_watched: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the model has it from."""
    monkeypatch.setenv("SPAN_KEY", "canary-4711")
    traced = Traced(Redaction())

    @tool
    async def send(text: str, key: Annotated[str, Secret("SPAN_KEY")]) -> str:
        """Send a text."""
        return f"sent {text} with {key}"

    await run_watched(traced.watch, send, write_request("send", {"text": "no canary-4711"}))
    attributes = traced.spans["execute_tool send"].attributes or {}

    assert json.loads(str(attributes["gen_ai.tool.call.arguments"])) == {"text": "no [redacted]"}
    assert json.loads(str(attributes["gen_ai.tool.call.result"])) == "sent no [redacted] with [redacted]"


async def test_a_span_that_is_not_sampled_costs_nothing_more(run_watched: Run) -> None:
    """The call is answered as ever."""
    traced = Traced(Redaction(), sampler=ALWAYS_OFF)

    message = await run_watched(traced.watch, login, _request())

    assert (message.status, traced.spans) == ("success", {})


async def test_log_lines_name_the_trace(run_watched: Run, log_as: Any) -> None:
    """So that one leads to the other."""
    log = log_as(as_json=True)
    traced = Traced()
    broken = tool("login", description="Log in.")(lambda: 1 / 0)
    request = write_request("login", id="c", headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})

    await run_watched(traced.watch, broken, request)

    assert [(line["event"], line["trace_id"]) for line in log.lines] == [("tool failed", TRACE)]


async def test_a_span_is_named_for_another_process(run_watched: Run) -> None:
    """Whose spans become its children, as long as they are within; nothing is named where there is none."""
    named: list[Any] = []
    here, there = Traced(), Traced()

    @tool
    async def work() -> None:
        """Name the span."""
        named.append(here.watch.headers())

    await run_watched(here.watch, work, write_request("work"))
    spans = Spans(there.provider)
    tracer = there.provider.get_tracer("a library")
    with spans.within(named[0]):
        tracer.start_span("inside").end()
    tracer.start_span("outside").end()
    parent, call = there.spans["inside"].parent, here.spans["execute_tool work"].context

    assert (parent and parent.trace_id, parent and parent.span_id) == (call.trace_id, call.span_id)
    assert there.spans["outside"].parent is None
    assert (CallTelemetry(Metrics()).headers(), here.watch.headers()) == ({}, {})


@tool
async def ask_elsewhere(context: ToolContext) -> dict[str, str]:
    """Return what would go along."""
    return dict(context.trace())


async def test_what_a_tool_asks_elsewhere_is_a_part_of_its_call(run_watched: Run) -> None:
    """Its own span is named; where nothing is traced, that of the caller."""
    traced = Traced()
    came = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    said = await run_watched(traced.watch, ask_elsewhere, write_request("ask_elsewhere", headers=came))
    span = traced.spans["execute_tool ask_elsewhere"].context
    untraced = CallTelemetry(Metrics(), CallLines())
    passed = await run_watched(untraced, ask_elsewhere, write_request("ask_elsewhere", headers=came))

    assert json.loads(str(said.content))["traceparent"] == f"00-{TRACE}-{span.span_id:016x}-01"
    assert json.loads(str(passed.content)) == came
