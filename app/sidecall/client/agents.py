"""The tools of a server as function tools of the OpenAI Agents SDK: `Agent("assistant", tools=load_tools(server))`."""

import asyncio
import hashlib
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, cast

from agents import (
    FunctionTool,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrail,
    ToolOutputGuardrailTripwireTriggered,
    ToolTimeoutError,
)
from agents.tool import FunctionToolCustomDataContext
from agents.tool_context import ToolContext
from agents.tracing import SpanError, get_current_span
from pydantic_core import to_jsonable_python

from sidecall.client.answers import PersonVerdict, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.failures import ApprovalNeeded, RequestRefused, ServerBusy, answer_reused
from sidecall.client.options import AskPerson, CallOptions, ToolFilters, require_options
from sidecall.client.runs import PersonWord

# Of each tool. A call that is pushed out is made anew when it is asked for again.
_MOST = 1000


@dataclass(frozen=True)
class _Waiting:
    call_id: str
    # Its run knows it by the id under which it was asked for last.
    latest: str
    asked: tuple[str, str]
    group: str | None
    mark: str | None


@dataclass(frozen=True)
class WaitingCalls:
    """The waiting calls of one tool: asked for again under another id, one would run twice.

    A run finds its own calls, those in its history, and those of its RunConfig's group, which is a conversation whose
    history may be stored elsewhere. No other run finds them.
    """

    name: str
    kept: deque[_Waiting] = field(default_factory=lambda: deque(maxlen=_MOST))
    # Runs may be in threads.
    lock: Any = field(default_factory=threading.Lock)

    @contextmanager
    def send(self, run: ToolContext[Any], arguments: str, context: Any) -> Iterator[str]:
        """Send a call under the id of an equal waiting one, else its own, and store it if it waits."""
        asked = _digest(arguments, context)
        call_id = self._take(run, arguments, asked)
        was_waiting = call_id != run.tool_call_id
        try:
            yield call_id
        except ApprovalNeeded as needed:
            if was_waiting or needed.approvals[0].sign_in is not None:
                self._keep(run, call_id, asked)
            raise
        except BaseException as error:
            # Refused, it waits no more; after a lost connection or an abandoned run that is unknown.
            if was_waiting and (isinstance(error, ServerBusy) or not isinstance(error, RequestRefused)):
                self._keep(run, call_id, asked)
            raise

    def _take(self, run: ToolContext[Any], arguments: str, asked: tuple[str, str]) -> str:
        with self.lock:
            likely = [it for it in self.kept if it.asked == asked]
            past = set(_list_calls(run.turn_input, self.name, arguments)) if likely else set[str]()
            for it in likely:
                if _is_own(it, run, past):
                    self.kept.remove(it)
                    return it.call_id
        return str(run.tool_call_id)

    def _keep(self, run: ToolContext[Any], call_id: str, asked: tuple[str, str]) -> None:
        mark = getattr(_recall(run, run.tool_call_id), "fingerprint", None)
        with self.lock:
            self.kept.append(_Waiting(call_id, run.tool_call_id, asked, _find_group(run), mark))


def _digest(arguments: str, context: Any) -> tuple[str, str]:
    # Not kept themselves, since they may be long, or secret.
    said = (arguments, json.dumps(context, sort_keys=True))
    first, second = (hashlib.sha256(it.encode(errors="surrogatepass")).hexdigest() for it in said)
    return first, second


def _is_own(waiting: _Waiting, run: ToolContext[Any], past: Collection[str]) -> bool:
    record = _recall(run, waiting.latest)
    if record is not None and record.fingerprint == waiting.mark:
        # Otherwise it is another call of the same message, and none that is asked for again.
        return bool(record.completed)
    if waiting.call_id in past or waiting.latest in past:
        return True
    return waiting.group is not None and waiting.group == _find_group(run)


def _recall(run: ToolContext[Any], call_id: str) -> Any:
    """Return the stored id of a run's call, also for a run resumed from a serialized state."""
    # The SDK has no public name for this.
    return getattr(run, "_tool_invocations", {}).get(call_id)


def _find_group(run: ToolContext[Any]) -> str | None:
    return None if run.run_config is None else run.run_config.group_id


def _list_calls(items: Iterable[Any], name: str, arguments: str) -> Iterator[str]:
    """List the ids of equal calls in a history."""
    for item in items:
        call = item if isinstance(item, Mapping) else getattr(item, "__dict__", {})
        if (call.get("type"), call.get("name"), call.get("arguments")) == ("function_call", name, arguments):
            yield str(call.get("call_id"))


OfRun = Callable[[RunContextWrapper[Any]], Any]


class RunOptions(TypedDict, total=False):
    """Options of the calls of a run.

    `state` and `context` are functions of the run's context that return what tools get besides their arguments. `ask`
    decides about calls whose tool itself asks for approval, for which the SDK cannot interrupt a run.
    """

    state: OfRun
    context: OfRun
    ask: AskPerson


_OF_RUNS = frozenset(RunOptions.__annotations__)


def load_tools(
    server: Sidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[FunctionTool]:
    """Return the server's tools, for any agent: each call is made in a thread.

    A call that needs approval interrupts the run, which continues when its state has the decision. This takes
    credentials with the scope to decide. If a person has to sign in first, the model reads where, unless `ask` shows it
    to them.
    """
    require_options(cast("CallOptions", options), _OF_RUNS, "load_tools")
    listed, marked = server.tools(**(filters or {})), server.tools("mcp", **_leave_strict(filters))

    async def run(call: Any, **supplied: Any) -> ToolAnswer:
        return await asyncio.to_thread(server.call, call, **supplied)

    async def plan(call: Any, **supplied: Any) -> dict[str, Any]:
        return await asyncio.to_thread(server.preview, call, **supplied)

    return [_make_tool(it, _Remote(run, plan, options), marked) for it in _list_functions(listed, marked)]


async def aload_tools(
    server: AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[FunctionTool]:
    """Return the server's tools, for agents that run on the client's event loop."""
    require_options(cast("CallOptions", options), _OF_RUNS, "aload_tools")
    listed, marked = await server.tools(**(filters or {})), await server.tools("mcp", **_leave_strict(filters))
    functions = _list_functions(listed, marked)
    return [_make_tool(it, _Remote(server.call, server.preview, options), marked) for it in functions]


def _list_functions(listed: list[dict[str, Any]], marked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """List tools as functions; one with text input becomes a function of one argument, since the SDK runs no others."""
    schemas = {it["name"]: it["inputSchema"] for it in marked}
    customs = [it["custom"] for it in listed if it["type"] == "custom"]
    texts = {it["name"]: {**it, "parameters": schemas[it["name"]]} for it in customs}
    return [it["function"] if it["type"] == "function" else texts[it["custom"]["name"]] for it in listed]


def _leave_strict(filters: ToolFilters | None) -> ToolFilters:
    return cast("ToolFilters", {key: value for key, value in (filters or {}).items() if key != "strict"})


class AnswerText(str):
    """The text of an answer for the model, and the answer itself."""

    answer: ToolAnswer


class AnswerParts(list[dict[str, Any]]):
    """The content of an answer with images or files for the model, and the answer itself."""

    answer: ToolAnswer


@dataclass(frozen=True)
class _Remote:
    """Runs and previews the calls of one tool on the server."""

    run: Callable[..., Awaitable[ToolAnswer]]
    plan: Callable[..., Awaitable[dict[str, Any]]]
    options: RunOptions

    def supply(self, context: RunContextWrapper[Any]) -> CallOptions:
        """Return the options for a call of this run."""
        supplied: CallOptions = {}
        if "state" in self.options:
            supplied["state"] = to_jsonable_python(self.options["state"](context), fallback=str)
        if "context" in self.options:
            supplied["context"] = to_jsonable_python(self.options["context"](context), fallback=str)
        return supplied


def _make_tool(function: Mapping[str, Any], remote: _Remote, marked: list[dict[str, Any]]) -> FunctionTool:
    name = function["name"]
    waiting = WaitingCalls(name)

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        supplied = remote.supply(context)
        ask = remote.options.get("ask")
        if context.is_tool_approved(name, context.tool_call_id):
            ask = PersonWord(name, None, PersonVerdict("approve"), ask).decide
        if ask is not None:
            supplied["ask"] = ask
        return await _run(remote, waiting, arguments, supplied, context)

    async def ask_first(context: RunContextWrapper[Any], args: dict[str, Any], call_id: str) -> bool:
        # Planned only, so that nothing is left waiting in the server for a decision that is made here.
        call = {"type": "tool_call", "name": name, "args": args, "id": call_id}
        return bool((await remote.plan(call, **remote.supply(context)))["requires_approval"])

    return FunctionTool(
        name=name,
        description=function.get("description", ""),
        params_json_schema=function["parameters"],
        on_invoke_tool=invoke,
        strict_json_schema=function.get("strict", False),
        needs_approval=ask_first if any(it["name"] == name and "_meta" in it for it in marked) else False,
        custom_data_extractor=_keep_answer,
    )


async def _run(
    remote: _Remote, waiting: WaitingCalls, arguments: str, supplied: CallOptions, context: ToolContext[Any]
) -> Any:
    name = waiting.name
    try:
        with waiting.send(context, arguments, supplied.get("context")) as call_id:
            call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            answer = await remote.run(call, **supplied)
    except ApprovalNeeded as needed:
        if needed.approvals[0].sign_in is None:
            raise
        # The SDK interrupts a run before a call alone, and shows its arguments: so the model passes the link on.
        return needed.approvals[0].question
    except RequestRefused as refused:
        reused = answer_reused(refused, name, context.tool_call_id)
        if reused is not None:
            _show_failure(reused, context)
            return _show(reused)
        own = _find_own_error(name, refused)
        if own is refused:
            raise
        raise own from refused
    _show_failure(answer, context)
    return _show(answer)


def _find_own_error(name: str, refused: RequestRefused) -> Exception:
    """Return the SDK's exception for such a failure of a tool; others are returned unchanged."""
    said = refused.document
    error: Exception = refused
    if refused.slug == "tool-call-failed" and said.get("kind") == "timeout":
        error = ToolTimeoutError(name, float(said.get("timeout_seconds", 0)))
    elif refused.slug == "guardrail-tripped":
        output = ToolGuardrailFunctionOutput.raise_exception(said.get("output_info"))
        if said.get("guards") == "output":
            error = ToolOutputGuardrailTripwireTriggered(ToolOutputGuardrail(_check_remotely, said.get("name")), output)
        else:
            error = ToolInputGuardrailTripwireTriggered(ToolInputGuardrail(_check_remotely, said.get("name")), output)
    return error


def _check_remotely(_: Any) -> ToolGuardrailFunctionOutput:
    """A guardrail that does nothing, since the server has run it."""
    return ToolGuardrailFunctionOutput.allow()


def _show_failure(answer: ToolAnswer, context: ToolContext[Any]) -> None:
    """Record a failure in the run's trace, as the SDK does for its own tools."""
    span, failure = get_current_span(), answer.failure
    if span is None or failure is None:
        return
    is_open = context.run_config is None or context.run_config.trace_include_sensitive_data
    said = {"error": failure.message} if is_open else {}
    about = {"tool_name": answer.name, "kind": failure.kind, **said}
    span.set_error(SpanError(message="Error running tool", data=about))


def _show(answer: ToolAnswer) -> AnswerText | AnswerParts:
    """Return the content for the model."""
    if isinstance(answer.content, str):
        shown: AnswerText | AnswerParts = AnswerText(answer.content)
    else:
        shown = AnswerParts(map(_show_block, read_blocks(answer.content)))
    shown.answer = answer
    return shown


def _show_block(block: str | MediaBlock) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if block.kind == "image":
        said: dict[str, Any] = {"type": "image", "image_url": block.address, "file_id": block.file_id}
    elif block.kind == "file":
        # OpenAI tells from its name what a file is.
        name = block.filename or (f"file.{block.type.rpartition('/')[2]}" if block.data else None)
        data = block.address if block.data else None
        said = {"type": "file", "file_data": data, "file_url": block.url, "file_id": block.file_id, "filename": name}
    else:
        said = {"type": "text", "text": block.words}
    return {key: value for key, value in said.items() if value is not None}


def _keep_answer(about: FunctionToolCustomDataContext) -> dict[str, Any] | None:
    """Return the answer as `custom_data` of the tool's output item, for the program and never the model."""
    answer = getattr(about.output, "answer", None)
    if answer is None:  # a guardrail has put something else in its place
        return None
    return {"artifact": answer.artifact, "status": answer.status, **answer.response_metadata}
