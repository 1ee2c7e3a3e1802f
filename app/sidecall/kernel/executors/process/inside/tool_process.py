"""The process of a tool: find the tool, run its function, answer with the outcome."""

import asyncio
import inspect
import logging
import os
from collections.abc import Coroutine, Mapping
from contextlib import nullcontext
from contextvars import copy_context
from functools import partial
from typing import Any

from pydantic_core import to_jsonable_python

from sidecall.features.telemetry.protocol import Tracing
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.tracing import open_tracing
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.cost import CallCost
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.process.descendants import end_copy_of
from sidecall.kernel.executors.process.failures import write_failure
from sidecall.kernel.executors.process.finder import Finder, Home, ToolsOf
from sidecall.kernel.executors.process.frames import COST
from sidecall.kernel.executors.process.inside.bridged_contents import BridgedContents
from sidecall.kernel.executors.process.inside.bridged_items import BridgedItems
from sidecall.kernel.executors.process.inside.channel import Channel, LogToServer
from sidecall.kernel.executors.process.inside.limits import bounded_memory, writable_bytes
from sidecall.kernel.executors.process.output import ResultBounds, write_output
from sidecall.kernel.executors.process.request import read_request
from sidecall.kernel.executors.results import complete, drain
from sidecall.kernel.executors.steady_loop import run_steadily
from sidecall.kernel.ports.tenant_store import ItemStore
from sidecall.kernel.schema.arguments import fill_hidden, validate

_MB = 1024 * 1024
_TRACE_DELAY_MS = "200"


class ToolProcess:
    """Runs calls one after the other."""

    def __init__(self, channel: Channel, runner: asyncio.Runner, tools_of: ToolsOf) -> None:
        self.lost: dict[str, str] = {}
        self._channel = channel
        # One event loop for all calls: clients that a tool's module holds belong to the loop that used them first.
        self._runner = runner
        self._finder = Finder(tools_of)
        self._tracing: Tracing | None = None
        self._baseline = 0
        self._pid = os.getpid()

    def greet(self, told: Mapping[str, Any]) -> None:
        """Apply the server's log settings, and load the tools."""
        logging.getLogger().addHandler(LogToServer(self._channel))
        logging.captureWarnings(True)
        for name, level in told["levels"].items():
            logging.getLogger(name).setLevel(level)
        # What there is to say about discovery, the server has said.
        logging.getLogger("sidecall").setLevel(logging.ERROR)
        if told["traces"]:
            # Spans that wait are lost when this process is killed.
            os.environ["OTEL_BSP_SCHEDULE_DELAY"] = os.environ.get("OTEL_BSP_SCHEDULE_DELAY") or _TRACE_DELAY_MS
            self._tracing = open_tracing("auto", Redaction())
        for home in told["homes"]:
            reason = self._finder.explain_loss(home)
            if reason is not None:
                self.lost[home["name"]] = reason
        self._baseline = writable_bytes()

    def call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Run a call; the answer holds the tool's result or its failure."""
        # In a context of its own, so that the next call does not find what this one sets.
        return copy_context().run(self._call, request)

    def _call(self, request: Mapping[str, Any]) -> dict[str, Any]:
        with nullcontext() if self._tracing is None else self._tracing.within(request["trace"]):
            return self._answer(request)

    def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            tool, store = self._find(request["home"]), self._make_store(request)
            contents = BridgedContents(self._channel, request["invocation_id"]) if request["has_contents"] else None
            invocation = read_request(request, tool, self._make_listener(request), store, contents)
            invocation.cost = CallCost(partial(self._say_cost, invocation.id))
            fill_hidden(invocation)
            validate(invocation)
            with self._channel.answering(), bounded_memory(self._baseline + request["memory_limit_mb"] * _MB):
                output = self._run(invocation)
            return write_output(invocation.tool, output, invocation.call.id, ResultBounds(*request["bounds"]))
        except BaseException as error:
            return write_failure(error)
        finally:
            end_copy_of(self._pid)

    def _make_store(self, request: Mapping[str, Any]) -> ItemStore | None:
        if not request["has_store"]:
            return None
        return ItemStore(BridgedItems(self._channel, request["invocation_id"]), request["caller"]["tenant"])

    def _find(self, home: Home) -> CompiledTool:
        is_new = not self._finder.knows(home)
        tool = self._finder.find(home)
        if is_new:
            self._baseline = writable_bytes()
        return tool

    def _make_listener(self, request: Mapping[str, Any]) -> EventListener | None:
        def tell(kind: str, _: str, said: Mapping[str, Any]) -> None:
            # Where the server has no room for it, it reads no more, and this waits.
            self._channel.say("event", request["invocation_id"], [kind, to_jsonable_python(said, fallback=str)])

        return tell if request["is_heard"] else None

    def _say_cost(self, invocation_id: str, fine: int) -> None:
        self._channel.say("event", invocation_id, [COST, fine])

    def _run(self, invocation: Invocation) -> Any:
        """Call the function without a running event loop, since a sync tool may start one."""

        def say_part(part: Any) -> None:
            end_copy_of(self._pid)
            invocation.say_part(part)

        positional, keywords = invocation.tool.bind(invocation.values)
        result = drain(invocation.tool.function(*positional, **keywords), say_part)
        if inspect.isawaitable(result) or inspect.isasyncgen(result):
            return self._wait_for(complete(result, say_part))
        return result

    def _wait_for(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end, even if tasks, timers or other calls try to stop the loop."""
        loop = self._runner.get_loop()
        # In the present context, which knows the span.
        return run_steadily(loop, loop.create_task(coroutine))
