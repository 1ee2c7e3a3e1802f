"""Read tools and tool specs of LlamaIndex."""

from collections.abc import Iterable
from typing import Any

from sidecall.compat.foreign.frameworks.reader import Reader, Source, is_blocking, read_value, with_artifact
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException


def describe(it: Any) -> Source:
    """Describe a tool by its metadata; its raw output is the artifact."""
    said = it.metadata
    function = _find_function(it)
    blocks = not hasattr(it, "acall") if function is None else is_blocking(function)

    async def arun(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        return _read_output(await it.acall(**args))

    def run(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        return _read_output(it(**args))

    schema = dict(said.get_parameters_dict())
    bound = frozenset(getattr(it, "partial_params", None) or ())
    return Source(
        name=said.get_name(),
        description=said.description or "",
        schema=_leave_out(schema, bound),
        run=run if blocks else arun,
        written=it if function is None else function,
        is_blocking=blocks,
        options={"return_direct": bool(said.return_direct)},
    )


def _find_function(it: Any) -> Any:
    """Return the author's function, the async one where there are two; None for other tools."""
    later = getattr(it, "async_fn", None)
    is_own = later is not None and getattr(later, "__module__", "").partition(".")[0] != "llama_index"
    return later if is_own else getattr(it, "real_fn", None)


def _leave_out(schema: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Leave out the arguments that the author has given already."""
    properties = {name: inner for name, inner in schema.get("properties", {}).items() if name not in names}
    return schema | {
        "properties": properties,
        "required": [name for name in schema.get("required", ()) if name in properties],
    }


def list_tools(it: Any) -> Iterable[Any]:
    """List the tools of a tool spec."""
    tools: Iterable[Any] = it.to_tool_list()
    return tools


def find_obstacle(it: Any) -> str | None:
    """Return why a tool cannot be taken: it needs a running workflow."""
    if not getattr(it, "requires_context", False):
        return None
    return (
        f"its `{it.ctx_param_name}` is the Context of a running workflow; write sidecall's @tool over its function, "
        "with a ToolContext of sidecall there"
    )


def _read_output(output: Any) -> Any:
    """Read a ToolOutput: its blocks for the model, its raw output for the program."""
    if not hasattr(output, "raw_output"):
        return read_value(output)
    if output.is_error:
        raise ToolException(output.content or str(output.exception or "The tool failed."))
    raw = output.raw_output
    content = read_value(output.blocks) if output.blocks else output.content
    if not isinstance(raw, str) and isinstance(raw, int | float | list | dict | None) and content == str(raw):
        content = raw  # Python's own form of it, in place of which ours is JSON.
    return with_artifact(content, raw)


READER = Reader(describe, list_tools, find_obstacle)
