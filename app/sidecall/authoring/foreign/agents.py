"""Take over function tools of the OpenAI Agents SDK, without importing it."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sidecall.authoring.foreign.context import AgentsContext, make_agents_context
from sidecall.authoring.foreign.guardrails import as_input_guardrail, as_output_guardrail
from sidecall.authoring.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.authoring.spellings import rename_options
from sidecall.authoring.structured import StructuredTool
from sidecall.core.context import Caller, ToolContext
from sidecall.schema.by_json_schema import make_json_args_schema
from sidecall.schema.signature import find_source
from sidecall.schema.strict import find_strict_obstacles


def adopt_function_tool(it: Any, name: str | None, options: Mapping[str, Any]) -> StructuredTool:
    """Offer a FunctionTool; `options` win over what the tool itself says.

    One that was made by `@function_tool` is made anew from its function, any other runs its calls itself.

    Raises:
        DefinitionError: The tool cannot be offered.
    """
    said = {**_translate_options(it), "name": name or it.name, **options}
    function = getattr(it, "__wrapped__", None)
    if function is None:
        return _relax_strict(_wrap(it, said), options)
    return _relax_strict(StructuredTool.from_function(function, **said), options)


def _translate_options(it: Any) -> dict[str, Any]:
    """Translate the tool's options; an option that is a function is given what the SDK would give it."""
    policy = it.needs_approval
    given = {
        "description": it.description,
        "requires_approval": policy if isinstance(policy, bool) else _make_policy(policy),
        "is_enabled": it.is_enabled if isinstance(it.is_enabled, bool) else _make_switch(it.name, it.is_enabled),
        "timeout": it.timeout_seconds,
        "timeout_behavior": it.timeout_behavior,
        "timeout_error_function": it.timeout_error_function,
        "strict": it.strict_json_schema,
        "tool_input_guardrails": [as_input_guardrail(one) for one in it.tool_input_guardrails or ()],
        "tool_output_guardrails": [as_output_guardrail(one) for one in it.tool_output_guardrails or ()],
    }
    if not getattr(it, "_use_default_failure_error_function", True):
        given["failure_error_function"] = it._failure_error_function
    return rename_options(given)


def _relax_strict(made: StructuredTool, options: Mapping[str, Any]) -> StructuredTool:
    """Ask for strict definitions, the SDK's default, only where there can be one."""
    if made.strict is not True or "strict" in options:
        return made
    loose = made.model_copy(update={"strict": None})
    return loose if find_strict_obstacles(loose.compiled.args_schema.flat) else made


def _make_policy(policy: Callable[..., Any]) -> Callable[..., Any]:
    async def requires_approval(context: ToolContext, args: Mapping[str, Any], call_id: str) -> Any:
        return await _settle(policy(make_agents_context(context, args), dict(args), call_id))

    return requires_approval


def _make_switch(name: str, predicate: Callable[..., Any]) -> Callable[..., Any]:
    async def is_enabled(caller: Caller) -> Any:
        return await _settle(predicate(AgentsContext(context={}, tool_name=name, caller=caller), None))

    return is_enabled


def _wrap(it: Any, said: Mapping[str, Any]) -> ForeignTool:
    where = f"{find_source(it.on_invoke_tool)}: tool {said['name']!r}"
    closed = said.get("unknown_args") == "forbid"
    accepts = make_json_args_schema(where, it.params_json_schema, None, forbid_unknown=closed)

    async def call(**arguments: Any) -> Any:
        context = make_agents_context(arguments.pop(CONTEXT), arguments)
        return _write_blocks(await _settle(it.on_invoke_tool(context, context.tool_arguments)))

    return ForeignTool.wrap(it.on_invoke_tool, set_signature(call), accepts, **said)


async def _settle(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


def _write_blocks(answer: Any) -> Any:
    """Write the SDK's output objects (ToolOutputText and the like) as blocks of content."""
    parts = answer if isinstance(answer, list) else [answer]
    if not parts or not all(hasattr(part, "model_dump") and hasattr(part, "type") for part in parts):
        return answer
    return [part.model_dump(exclude_none=True) for part in parts]
