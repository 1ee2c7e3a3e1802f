"""Adopt function tools of the OpenAI Agents SDK, without importing it."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from sidecall.compat.foreign.context import make_agents_context
from sidecall.compat.foreign.declared import find_lost_options
from sidecall.compat.foreign.guardrails import as_input_guardrail, as_output_guardrail
from sidecall.compat.foreign.nested import NestedRuns
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.compat.function_tool import SAID_TO_PROVIDER, FunctionTool, translate_options
from sidecall.kernel.authoring.structured import StructuredTool
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.by_json_schema import make_json_args_schema
from sidecall.kernel.schema.forms.strict import find_strict_obstacles
from sidecall.kernel.schema.signature import find_source


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
