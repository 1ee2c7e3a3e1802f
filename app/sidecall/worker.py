"""What runs in a child process: find the tool again, run its function, say what came of it."""

import asyncio
import faulthandler
import gc
import inspect
import logging
import os
import socket
import sys
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from contextvars import copy_context
from dataclasses import replace
from typing import Any, TypeVar

from pydantic_core import to_jsonable_python

from sidecall.core.command import Spoken, is_command, is_message, read_command, spoken_by
from sidecall.core.context import Caller, EventListener
from sidecall.core.errors import DefinitionError, DiscoveryError
from sidecall.core.invocation import CallRequest, Invocation, Surroundings
from sidecall.core.messages import ToolCall
from sidecall.core.tool import CompiledTool
from sidecall.discovery import discover
from sidecall.executors.process.channel import Channel, LogToServer
from sidecall.executors.process.crossing import home_of, obstacle_of, plain_of, refuse
from sidecall.executors.process.failures import failure_of
from sidecall.executors.process.forking import Template
from sidecall.executors.process.kin import end_copy_of
from sidecall.executors.process.limits import bounded_memory, leave_no_core, writable_bytes
from sidecall.executors.results import complete, drain
from sidecall.pipeline.format import format_output
from sidecall.pipeline.inject import inject
from sidecall.pipeline.validate import validate
from sidecall.telemetry.protocol import Tracing
from sidecall.telemetry.redact import Redaction
from sidecall.telemetry.tracing import open_tracing

_MB = 1024 * 1024
_TRACE_DELAY_MS = "200"

Home = Mapping[str, Any]
T = TypeVar("T")


def main(control: int, family: int) -> None:
    """Be the process that forks the others, until the server is gone."""
    faulthandler.enable()
    leave_no_core()
    # What is there now is shared with all children for as long as nobody touches it.
    gc.collect()
    gc.freeze()
    Template(socket.socket(fileno=control), serve, family).run()
    os._exit(0)


def serve(sock: socket.socket) -> None:
    """Answer calls until the server wants no more, or has closed its end before the kill arrives."""
    channel = Channel(sock)
    with suppress(ConnectionError), asyncio.Runner() as runner:
        worker = Worker(channel, runner)
        for kind, subject, content in channel:
            if kind == "greet":
                worker.greet(content)
            elif kind == "find":
                channel.say("answer", subject, worker.lost)
            else:
                channel.say("answer", subject, worker.call(content))


class Finder:
    """Find tools again by where they stand and what they are called."""

    def __init__(self, places: Iterable[str] = (), *, use_entry_points: bool = False) -> None:
        """Look in these places, too, for what no module offers in which its function stands."""
        self._places = tuple(places)
        self._use_entry_points = use_entry_points
        self._known: dict[tuple[str, str], CompiledTool] = {}

    def find(self, home: Home) -> CompiledTool:
        """Load the module, or else the places, and take the tool of this name.

        Raises:
            DefinitionError: It is not there, or cannot be loaded.
        """
        key = (home["module"], home["name"])
        if key not in self._known:
            self._known[key] = self._found(home)
        return self._known[key]

    def knows(self, home: Home) -> bool:
        """Tell whether it was found before."""
        return (home["module"], home["name"]) in self._known

    def lost(self, home: Home) -> str | None:
        """Say why a tool is not found; None when it is."""
        try:
            self.find(home)
        except DefinitionError as error:
            return error.message
        return None

    def _found(self, home: Home) -> CompiledTool:
        reasons = []
        for places, use_entry_points in self._candidates(home):
            try:
                found = discover(places, use_entry_points=use_entry_points)
            except DefinitionError as error:
                reasons.append(f" ({error.message})")
                continue
            tool = next((tool for tool in found if tool.name == home["name"]), None)
            if tool is not None:
                return tool
        text = f"neither the module {home['module']} nor any of the server's places offers a tool of this name"
        raise DiscoveryError(text + "".join(reasons))

    def _candidates(self, home: Home) -> Iterator[tuple[tuple[str, ...], bool]]:
        module = sys.modules.get(home["module"])
        if home["file"] is not None:
            # Where it is loaded already, it may be under a name that its file does not tell.
            is_loaded = getattr(module, "__file__", None) == home["file"] and not hasattr(module, "__path__")
            yield ((home["module"] if is_loaded else home["file"],), False)
        yield self._places, self._use_entry_points


def refuse_unfit(tools: Iterable[CompiledTool], finder: Finder) -> None:
    """Refuse tools that want to run in a process and cannot.

    Raises:
        InvalidToolOption: The message says which, and why.
    """
    for tool, reason in unfit(tools, finder):
        refuse(tool, reason)


def unfit(tools: Iterable[CompiledTool], finder: Finder) -> Iterator[tuple[CompiledTool, str]]:
    """Find the tools that want to run in a process and cannot, and say why."""
    for tool in tools:
        reason = obstacle_of(tool) or finder.lost(home_of(tool)) if tool.executor == "process" else None
        if reason is not None:
            yield tool, reason


class Worker:
    """Run calls, one after the other."""

    def __init__(self, channel: Channel, runner: asyncio.Runner) -> None:
        self.lost: dict[str, str] = {}
        self._channel = channel
        # One event loop for all calls: clients that a tool's module holds belong to the loop that used them first.
        self._runner = runner
        self._finder = Finder()
        self._tracing: Tracing | None = None
        self._baseline = 0
        self._pid = os.getpid()

    def greet(self, told: Mapping[str, Any]) -> None:
        """Take over how the server logs, and load the tools that will be asked for."""
        logging.getLogger().addHandler(LogToServer(self._channel))
        for name, level in told["levels"].items():
            logging.getLogger(name).setLevel(level)
        # What there is to say about discovery, the server has said.
        logging.getLogger("sidecall").setLevel(logging.ERROR)
        if told["traces"]:
            # Spans that wait are lost when this process is killed.
            os.environ.setdefault("OTEL_BSP_SCHEDULE_DELAY", _TRACE_DELAY_MS)
            self._tracing = open_tracing("auto", Redaction())
        self._finder = Finder(told["places"], use_entry_points=told["use_entry_points"])
        for home in told["homes"]:
            reason = self._finder.lost(home)
            if reason is not None:
                self.lost[home["name"]] = reason
        self._baseline = writable_bytes()

    def call(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Run a call; the answer says what the tool returned or why it failed."""
        with nullcontext() if self._tracing is None else self._tracing.within(asked["trace"]):
            return self._answer(asked)

    def _answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        try:
            invocation = self._invocation(asked)
            _at_once(_prepare(invocation))
            with bounded_memory(self._baseline + asked["memory_limit_mb"] * _MB):
                invocation.output = self._result(invocation)
            return _at_once(answer_of(invocation))
        except BaseException as error:
            return failure_of(error)
        finally:
            end_copy_of(self._pid)

    def _tool(self, home: Home) -> CompiledTool:
        is_new = not self._finder.knows(home)
        tool = self._finder.find(home)
        if is_new:
            self._baseline = writable_bytes()
        return tool

    def _invocation(self, asked: Mapping[str, Any]) -> Invocation:
        caller = asked["caller"]
        request = CallRequest(
            ToolCall(name=asked["home"]["name"], args=asked["args"], id=asked["call_id"]),
            caller=Caller(**{**caller, "scopes": frozenset(caller["scopes"])}),
            state=asked["state"],
            context=asked["context"],
            headers=asked["headers"],
            listener=self._listener(asked["invocation_id"]) if asked["is_heard"] else None,
        )
        now = time.monotonic()
        return Invocation(
            id=asked["invocation_id"],
            request=request,
            tool=self._tool(asked["home"]),
            started=now,
            deadline=None if asked["remaining"] is None else now + asked["remaining"],
            surroundings=Surroundings(secrets=asked["secrets"].get),
            args=asked["args"],
        )

    def _listener(self, invocation_id: str) -> EventListener:
        def tell(kind: str, _: str, said: Mapping[str, Any]) -> None:
            self._channel.say("event", invocation_id, [kind, to_jsonable_python(said, fallback=str)])

        return tell

    def _result(self, invocation: Invocation) -> Any:
        """Call the function where no event loop runs, since a sync tool may start one of its own."""

        def say_part(part: Any) -> None:
            end_copy_of(self._pid)
            invocation.say_part(part)

        positional, keywords = invocation.tool.bind(invocation.values)
        result = drain(invocation.tool.function(*positional, **keywords), say_part)
        if inspect.isawaitable(result) or inspect.isasyncgen(result):
            # In the present context, which knows the span.
            return self._runner.run(complete(result, say_part), context=copy_context())
        return result


async def _prepare(invocation: Invocation) -> None:
    await inject(invocation)
    await validate(invocation)


def _at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing, without the cost of an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("a stage has to wait for something, which it cannot do in a tool's process")


async def answer_of(invocation: Invocation) -> dict[str, Any]:
    """Say what a tool returned so that the server makes the same answer of it as if it had run there.

    Raises:
        ToolOutputError: The server would raise it.
    """
    await format_output(invocation)
    is_pair = invocation.tool.options.response_format == "content_and_artifact"
    content, artifact = invocation.output if is_pair else (invocation.output, None)
    answer = {"artifact": plain_of(artifact)} if is_pair else {}
    if is_command(content):
        command = read_command(invocation.tool.name, content, invocation.call.id)
        told = {"update": plain_of(dict(command.update)), "goto": plain_of(command.goto)}
        return {**answer, **told, "spoken": await _spoken(invocation, command.answer)}
    if is_message(content):
        return {**answer, "spoken": await _spoken(invocation, spoken_by(content))}
    return {**answer, "content": await _content(invocation, content)}


async def _spoken(invocation: Invocation, spoken: Spoken) -> dict[str, Any]:
    return {
        "content": await _content(invocation, spoken.content),
        "artifact": plain_of(spoken.artifact),
        "status": spoken.status,
        "additional_kwargs": plain_of(dict(spoken.additional_kwargs)),
    }


async def _content(invocation: Invocation, content: Any) -> Any:
    """Let content cross as it is where that says the same there, else the text or the blocks that it makes here."""
    crossed = plain_of(content)
    if crossed is content or not isinstance(crossed, list):
        return crossed
    # A list of models, say, is a text, while the list of objects that it crosses as may be one of blocks.
    assert invocation.message is not None
    is_pair = invocation.tool.options.response_format == "content_and_artifact"
    trial = replace(invocation, output=(crossed, None) if is_pair else crossed)
    await format_output(trial)
    same = trial.message is not None and trial.message.content == invocation.message.content
    return crossed if same else invocation.message.content
