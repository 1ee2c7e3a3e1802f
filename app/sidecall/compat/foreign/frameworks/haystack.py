"""Read tools and toolsets of Haystack."""

import inspect
import typing
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from sidecall.compat.foreign.frameworks.reader import CallState, Reader, Run, Source, read_value
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.json_data.to_json import to_text


def describe(it: Any) -> Source:
    """Describe a tool; the caller's state takes the place of the agent's."""
    is_async = getattr(it, "async_function", None) is not None
    written = it.async_function if is_async else it.function

    return Source(
        name=it.name,
        description=it.description,
        schema=dict(it.parameters),
        run=_make_run(it, written, is_async=is_async),
        written=inspect.unwrap(written),
        is_blocking=not is_async,
    )


def _make_run(it: Any, written: Any, *, is_async: bool) -> Run:
    live = _find_live_state(written)

    def prepare(args: dict[str, Any], state: CallState) -> dict[str, Any]:
        filled = {
            parameter: state.values[key]
            for key, parameter in (it.inputs_from_state or {}).items()
            if key in state.values and parameter not in args
        }
        return {**args, **filled, **{name: _make_state(state) for name in live}}

    def finish(answer: Any, given: Mapping[str, Any], state: CallState) -> Any:
        for name in live:
            state.values.update(given[name].data)
        return state.add_update(_word(it, answer), {**state.values, **_find_update(it, answer, state)})

    async def arun(args: dict[str, Any], context: ToolContext) -> Any:
        state = CallState(context)
        given = prepare(args, state)
        return finish(await it.invoke_async(**given), given, state)

    def run(args: dict[str, Any], context: ToolContext) -> Any:
        state = CallState(context)
        given = prepare(args, state)
        return finish(it.invoke(**given), given, state)

    return arun if is_async else run


def list_tools(it: Any) -> Iterable[Any]:
    """List the tools of a toolset, once it is ready."""
    if hasattr(it, "warm_up"):
        it.warm_up()
    return list(it)


def _find_live_state(function: Any) -> list[str]:
    """List the parameters that are the agent's State itself."""
    kind = import_module("haystack.components.agents.state.state").State
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        return []
    return [name for name, hint in hints.items() if name != "return" and kind in (hint, *typing.get_args(hint))]


def _make_state(state: CallState) -> Any:
    module = import_module("haystack.components.agents.state.state")
    schema = {key: {"type": type(value)} for key, value in state.values.items() if key != "messages"}
    return module.State(schema=schema, data={key: state.values[key] for key in schema})


def _find_update(it: Any, answer: Any, state: CallState) -> dict[str, Any]:
    """Return what `outputs_to_state` writes into the state."""
    if not isinstance(answer, dict):
        return {}
    made = {}
    for key, said in (it.outputs_to_state or {}).items():
        source, handler = said.get("source"), said.get("handler")
        if source is not None and source not in answer:
            continue
        value = answer if source is None else answer[source]
        made[key] = value if handler is None else handler(state.values.get(key), value)
    return made


def _word(it: Any, answer: Any) -> Any:
    """Return what the model reads, as `outputs_to_string` says."""
    said = it.outputs_to_string or {}
    if not said or not said.keys().isdisjoint(("source", "handler", "raw_result")):
        return read_value(_pick(said, answer))
    return {key: value if isinstance(value := _pick(one, answer), str) else to_text(value) for key, one in said.items()}


def _pick(said: Mapping[str, Any], answer: Any) -> Any:
    source, handler = said.get("source"), said.get("handler")
    value = answer.get(source) if source is not None and isinstance(answer, dict) else answer
    return value if handler is None else handler(value)


READER = Reader(describe, list_tools)
