"""Read tools that wrap a function, or a method of their class: of CrewAI, smolagents, DSPy, CAMEL and BeeAI."""

import inspect
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from sidecall.compat.foreign.frameworks.media import write_address
from sidecall.compat.foreign.frameworks.reader import Reader, Run, Source, is_blocking, read_value
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.tool import Schema

_NO_ARGUMENTS: Schema = {"type": "object", "properties": {}}


def _make_run(call: Any) -> Run:
    """Return what runs a sync call with keywords."""

    def run(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        return read_value(call(**args))

    return run


def _make_arun(call: Any) -> Run:
    """Return what runs an async call with keywords."""

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        return read_value(await call(**args))

    return run


def describe_crewai(it: Any) -> Source:
    """Describe a tool under the name that CrewAI gives to models, without what it adds to the description."""
    is_structured = hasattr(it, "invoke") and not hasattr(it, "run")
    written = getattr(it, "func", None) or it._run
    own = getattr(type(it), "_arun", None)
    is_async = not is_blocking(written) or (own is not None and own.__module__.partition(".")[0] != "crewai")
    model = it.args_schema
    if is_structured:
        run = _make_arun(lambda **args: it.ainvoke(args)) if is_async else _make_run(lambda **args: it.invoke(args))
    else:
        run = _make_arun(it.arun if not _is_coroutine_method(it) else it._run) if is_async else _make_run(it.run)
    return Source(
        name=import_module("crewai.utilities.string_utils").sanitize_tool_name(it.name),
        description=it.description.rpartition("Tool Description: ")[2],
        schema=_NO_ARGUMENTS if model is None else model.model_json_schema(),
        run=run,
        written=written,
        is_blocking=not is_async,
        options={"return_direct": bool(it.result_as_answer)},
    )


def _is_coroutine_method(it: Any) -> bool:
    """Return whether a class has an async `_run` and no `_arun`."""
    return getattr(it, "func", None) is None and inspect.iscoroutinefunction(type(it)._run)


# Types of smolagents that JSON Schema has under no name, or not at all.
_ANYTHING = "any"
_MEDIA = frozenset(("image", "audio"))


def describe_smolagents(it: Any) -> Source:
    """Describe a tool by its `inputs`, which are no JSON Schema."""
    properties = {name: _read_input(said) for name, said in it.inputs.items()}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name, said in it.inputs.items() if not said.get("nullable")],
    }
    return Source(
        name=it.name,
        description=it.description,
        schema=schema,
        run=_make_arun(it) if inspect.iscoroutinefunction(it.forward) else _make_run(it),
        written=it.forward,
        is_blocking=not inspect.iscoroutinefunction(it.forward),
    )


def _read_input(said: Mapping[str, Any]) -> Schema:
    kinds = said["type"] if isinstance(said["type"], list) else [said["type"]]
    rest = {key: value for key, value in said.items() if key not in ("type", "nullable")}
    if _ANYTHING in kinds:
        return rest
    if said.get("nullable") and "null" not in kinds:
        kinds = [*kinds, "null"]
        if "enum" in rest and None not in rest["enum"]:
            rest["enum"] = [*rest["enum"], None]
    return {"type": kinds[0] if len(kinds) == 1 else kinds, **rest}


def find_smolagents_obstacle(it: Any) -> str | None:
    """Return why a tool cannot be taken: JSON has no images, and a sound is no file."""
    for name, said in it.inputs.items():
        if not _MEDIA.isdisjoint([said["type"]] if isinstance(said["type"], str) else said["type"]):
            return f"its `{name}` is an image or a sound, which JSON has not; take its address as a text instead"
    if getattr(it, "output_type", None) == "audio":
        return "its answer is a sound as a tensor of torch; return its bytes in a block, or its address as a text"
    return None


def describe_dspy(it: Any) -> Source:
    """Describe a tool by its `args`."""
    schema = _open_rest(it, it.format_as_litellm_function_call()["function"]["parameters"])
    blocks = is_blocking(it.func)
    return Source(
        name=it.name,
        description=it.desc or "",
        schema=schema,
        run=_make_run(it) if blocks else _make_arun(it.acall),
        written=it.func,
        is_blocking=blocks,
    )


def _open_rest(it: Any, schema: Schema) -> Schema:
    """Allow arguments of any name where the function has `**rest`, which DSPy lists as one that is required."""
    rest = [one.name for one in inspect.signature(it.func).parameters.values() if one.kind is one.VAR_KEYWORD]
    inner = [said for name, said in schema["properties"].items() if name in rest]
    shown = {name: said for name, said in schema["properties"].items() if name not in rest}
    required = [name for name in schema["required"] if name in shown]
    return (
        schema
        | {"properties": shown, "required": required}
        | ({"additionalProperties": inner[0] or True} if inner else {})
    )


def describe_camel(it: Any) -> Source:
    """Describe a tool by its strict schema, in which all is required: null means what the function has as default."""
    said = it.get_openai_tool_schema()["function"]
    schema = said.get("parameters", _NO_ARGUMENTS)
    optional = _list_optional(it.func)
    shown = schema | {"required": [name for name in schema.get("required", ()) if name not in optional]}
    blocks = is_blocking(it.func)

    def clean(args: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in args.items() if value is not None or name not in optional}

    async def arun(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        return _read_camel(await it.async_call(**clean(args)))

    def run(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        return _read_camel(it(**clean(args)))

    return Source(
        name=said["name"],
        description=said.get("description", ""),
        schema=shown,
        run=run if blocks else arun,
        written=it.func,
        is_blocking=blocks,
    )


def _list_optional(function: Any) -> frozenset[str]:
    parameters = inspect.signature(function).parameters.values()
    return frozenset(it.name for it in parameters if it.default is not inspect.Parameter.empty)


def _read_camel(answer: Any) -> Any:
    """Read a plain result, or a text with images."""
    images = getattr(answer, "images", None)
    if type(answer).__name__ != "ToolResult" or not images:
        return getattr(answer, "text", answer) if type(answer).__name__ == "ToolResult" else read_value(answer)
    return [{"type": "text", "text": answer.text}, *(write_address("image", it) for it in images)]


def list_camel(it: Any) -> Iterable[Any]:
    """List the tools of a toolkit."""
    tools: Iterable[Any] = it.get_tools()
    return tools


def list_collection(it: Any) -> Iterable[Any]:
    """List the tools of a collection of smolagents."""
    tools: Iterable[Any] = it.tools
    return tools


def describe_beeai(it: Any) -> Source:
    """Describe a tool by its input schema."""
    written = inspect.getclosurevars(type(it)._run).nonlocals.get("fn")

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        output = await it.run(args)
        known = getattr(output, "result", None)
        return known if type(output).__name__ == "JSONToolOutput" else output.get_text_content()

    return Source(
        name=it.name,
        description=it.description,
        schema=it.input_schema.model_json_schema(),
        run=run,
        written=written or it,
        is_blocking=written is not None and is_blocking(written),
    )


CREWAI = Reader(describe_crewai)
SMOLAGENTS = Reader(describe_smolagents, list_collection, find_smolagents_obstacle)
DSPY = Reader(describe_dspy)
CAMEL = Reader(describe_camel, list_camel)
BEEAI = Reader(describe_beeai)
