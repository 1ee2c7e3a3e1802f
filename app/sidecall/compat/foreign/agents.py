"""Adopt function tools of the OpenAI Agents SDK, without importing it."""

import functools
import inspect
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4

from pydantic_core import from_json

from sidecall.authoring.structured_tool import StructuredTool
from sidecall.compat.foreign.declared import find_lost_options
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.compat.function_tool import SAID_TO_PROVIDER, FunctionTool, translate_options
from sidecall.compiler.json_args_schema import make_json_args_schema
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.context import Caller, ToolContext, Usage
from sidecall.kernel.core.errors import CallRejected
from sidecall.kernel.core.guardrails import (
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.approvals.approval import ApprovalWanted
from sidecall.kernel.schema.forms.strict import find_strict_obstacles


class AgentsTool(ForeignTool):
    """A function tool that runs its calls itself."""

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool."""
        return replace(super().compiled, reads_dicts=True, results=None)


def adopt_function_tool(it: Any, name: str | None, options: Mapping[str, Any]) -> StructuredTool:
    """Adopt a FunctionTool; `options` override its own.

    One made by `@function_tool` is rebuilt from its function; any other runs its calls itself.

    Raises:
        DefinitionError: The tool cannot be offered.
    """
    said = {**_translate_options(it), "name": name or it.name, **options}
    function = getattr(it, "__wrapped__", None)
    if function is None:
        return _relax_strict(_wrap(it, said), options)
    made = FunctionTool.from_function(function, **said)
    made._unmet = find_lost_options(it)
    return _relax_strict(made, options)


def _translate_options(it: Any) -> dict[str, Any]:
    """Translate the tool's options; functions among them get the SDK's arguments."""
    policy = it.needs_approval
    given = {
        "description": it.description,
        "requires_approval": policy if isinstance(policy, bool) else _make_policy(policy),
        "is_enabled": it.is_enabled,
        "timeout": it.timeout_seconds,
        "timeout_behavior": it.timeout_behavior,
        "timeout_error_function": it.timeout_error_function,
        "strict": it.strict_json_schema,
        "tool_input_guardrails": [as_input_guardrail(one) for one in it.tool_input_guardrails or ()],
        "tool_output_guardrails": [as_output_guardrail(one) for one in it.tool_output_guardrails or ()],
    }
    given |= {name: value for name in SAID_TO_PROVIDER if (value := getattr(it, name, None))}
    if getattr(it, "_tool_namespace", None):
        space = {"name": it._tool_namespace, "description": it._tool_namespace_description or ""}
        given["extras"] = {"tool_namespace": space}
    if not getattr(it, "_use_default_failure_error_function", True):
        given["failure_error_function"] = it._failure_error_function
    return translate_options(given)[0]


def _relax_strict(made: StructuredTool, options: Mapping[str, Any]) -> StructuredTool:
    """Use strict definitions, the SDK's default, only where they are possible."""
    if made.strict is not True or "strict" in options:
        return made
    loose = made.model_copy(update={"strict": None})
    return loose if find_strict_obstacles(loose.compiled.args_schema.flat) else made


def _make_policy(policy: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(policy)
    async def requires_approval(context: ToolContext, args: Mapping[str, Any], call_id: str) -> Any:
        return await _settle(policy(make_agents_context(context, args), dict(args), call_id))

    return requires_approval


def _wrap(it: Any, said: Mapping[str, Any]) -> AgentsTool:
    where = f"{find_source(it.on_invoke_tool)}: tool {said['name']!r}"
    closed = said.get("unknown_args") == "forbid"
    taken = make_json_args_schema(where, it.params_json_schema, None, forbid_unknown=closed)
    accepts = replace(taken, guards=1)  # The SDK's own model drops what is unknown without a word.

    runs = NestedRuns()
    # Without the SDK's own words for a failure, which would make an answer like any other of it.
    invoke = getattr(it.on_invoke_tool, "_invoke_tool_impl", it.on_invoke_tool)

    async def call(**arguments: Any) -> Any:
        asked: ToolContext = arguments.pop(CONTEXT)
        theirs = make_agents_context(asked, arguments)
        return await runs.run(asked, theirs, lambda: _settle(invoke(theirs, theirs.tool_arguments)))

    made = AgentsTool.wrap(it.on_invoke_tool, set_signature(call), accepts, **said)
    made._unmet = find_lost_options(it)
    return made


async def _settle(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


# Runs that wait, per tool; the oldest goes when there are more, and begins anew once it is approved.
_MOST = 1000

# Whose call it is, its id and its arguments.
_Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A paused run, kept as long as the SDK's item for it exists."""

    tool_call: Any
    scope: str


class NestedRuns:
    """The runs of one `Agent.as_tool` that wait for a person."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[_Key, _Waiting] = OrderedDict()

    async def run(self, asked: ToolContext, theirs: Any, invoke: Callable[[], Awaitable[Any]]) -> Any:
        """Run the agent, or resume its run.

        Args:
            asked: Our context of the call.
            theirs: The SDK's, with the item that stands for the call.
            invoke: Runs the tool.

        Raises:
            ApprovalWanted: A tool of the agent's has to be approved; once it is decided about, the run goes on here.
            CallRejected: It was rejected, and the run that waited for it is forgotten.
        """
        state = sys.modules.get("agents.agent_tool_state")
        if state is None or getattr(theirs, "tool_call", None) is None:
            return await invoke()
        key = (asked.caller.tenant, asked.caller.subject, asked.tool_call_id, theirs.tool_arguments)
        waiting = self._waiting.pop(key, None)
        if waiting is None:
            if asked.rejection is not None:
                raise CallRejected(asked.rejection)
            waiting = _Waiting(theirs.tool_call, uuid4().hex)
        elif asked.approved:
            _decide(state, waiting, asked.rejection)
        theirs.tool_call = waiting.tool_call
        state.set_agent_tool_state_scope(theirs, waiting.scope)
        answer = await invoke()
        wanted = _find_wanted(state, waiting)
        if wanted is None:
            return answer
        self._waiting[key] = waiting
        if len(self._waiting) > _MOST:
            self._waiting.popitem(last=False)
        raise ApprovalWanted(ToolCall(name=wanted.name or "?", args=_read(wanted.arguments), id=asked.tool_call_id))


def _read(text: str | None) -> dict[str, Any] | str:
    """Parse arguments as an object, if they are one."""
    try:
        read = from_json(text or "{}")
    except ValueError:
        return text or ""
    return read if isinstance(read, dict) else text or ""


def _decide(state: ModuleType, waiting: _Waiting, rejection: str | None) -> None:
    """Approve or reject the call that the person was shown, and resume the run."""
    result = state.peek_agent_tool_run_result(waiting.tool_call, scope_id=waiting.scope)
    if result is None or not result.interruptions:
        return
    resumed = result.to_state()
    item = resumed.get_interruptions()[0]
    if rejection is None:
        resumed.approve(item)
    else:
        resumed.reject(item, rejection_message=rejection)
    state.record_agent_tool_resume_state(waiting.tool_call, resumed, scope_id=waiting.scope, approval_items=[item])


def _find_wanted(state: ModuleType, waiting: _Waiting) -> Any:
    """Return the first call that waits for approval; finished runs are dropped."""
    result = state.peek_agent_tool_run_result(waiting.tool_call, scope_id=waiting.scope)
    items = None if state.get_agent_tool_resume_state(result) is not None else getattr(result, "interruptions", None)
    if not items:
        state.drop_agent_tool_run_result(waiting.tool_call, scope_id=waiting.scope)
        return None
    return items[0]


def as_input_guardrail(theirs: Any) -> ToolInputGuardrail:
    """Wrap the SDK's guardrail for arguments."""

    async def judge(judged: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = make_agents_context(judged.context, judged.args)
        return _translate_verdict(await theirs.run(SimpleNamespace(context=context, agent=None)))

    return ToolInputGuardrail(judge, theirs.get_name())


def as_output_guardrail(theirs: Any) -> ToolOutputGuardrail:
    """Wrap the SDK's guardrail for outputs."""

    async def judge(judged: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = make_agents_context(judged.context, judged.args)
        return _translate_verdict(await theirs.run(SimpleNamespace(context=context, agent=None, output=judged.output)))

    return ToolOutputGuardrail(judge, theirs.get_name())


def _translate_verdict(theirs: Any) -> ToolGuardrailFunctionOutput:
    try:
        return ToolGuardrailFunctionOutput(theirs.output_info, theirs.behavior)
    except ValueError:  # What is not known here may be meant to refuse.
        return ToolGuardrailFunctionOutput.raise_exception(theirs.output_info)


@dataclass(slots=True, kw_only=True)
class AgentsContext:
    """A call in the form of the SDK's ToolContext, without an agent or run."""

    context: Any
    tool_name: str
    tool_call_id: str = ""
    tool_arguments: str = ""
    caller: Caller
    agent: None = None
    run_config: None = None
    tool_call: None = None
    tool_namespace: None = None
    usage: Usage = field(default_factory=Usage)


def make_agents_context(context: ToolContext, args: Mapping[str, Any]) -> Any:
    """Translate a ToolContext for functions of the SDK, with the arguments as JSON text.

    If the SDK is loaded it is an instance of its class, since its agents and its Codex inspect it.
    """
    said: dict[str, Any] = {
        "context": context.context,
        "tool_name": context.tool_name,
        "tool_call_id": context.tool_call_id,
        "tool_arguments": to_text(dict(args)),
    }
    make = getattr(sys.modules.get("agents.tool_context"), "ToolContext", None)
    if make is None:
        return AgentsContext(**said, caller=context.caller)
    made = make(**said, tool_call=_make_tool_call(said))
    made.caller = context.caller
    return made


def _make_tool_call(said: Mapping[str, Any]) -> Any:
    """Make the SDK's item for the call, by which it identifies pending approvals."""
    item = getattr(sys.modules.get("openai.types.responses"), "ResponseFunctionToolCall", None)
    if item is None:
        return None
    names = {"name": said["tool_name"], "call_id": said["tool_call_id"], "arguments": said["tool_arguments"]}
    return item(type="function_call", **names)
