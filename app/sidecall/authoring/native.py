"""Requirements for tools that implement a built-in tool, or take a text."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.options import ARGUMENTS, Grammar, NativeKind
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.describe import find_text

# What Anthropic needs to know about a screen, from the tool's `extras`.
DISPLAY = ("display_width_px", "display_height_px")


# The input of these is described by their tools, or by their names.
_FREE = ("tool_search", "computer_use")


def refuse_misfit(tool: CompiledTool) -> None:
    """Refuse a tool that cannot implement the built-in tool that it names.

    Raises:
        InvalidToolOption: It cannot.
    """
    reason = next((text for kind in tool.options.native if (text := _find_misfit(tool, kind))), None)
    if reason is None and tool.options.toolset is not None and tool.options.native:
        reason = "`toolset` does not go with `native`: a member of a toolset is called by its name."
    if reason is None and tool.options.input is not None:
        reason = _find_text_misfit(tool)
    if reason is None and tool.options.grammar is not None and tool.options.input is None:
        reason = '`grammar` is for tools with input="text".'
    if reason is not None:
        raise InvalidToolOption(f"{tool.source}: tool {tool.name!r}: option {reason}")


def _find_misfit(tool: CompiledTool, kind: NativeKind) -> str | None:
    schema, always = tool.args_schema.flat, ARGUMENTS[kind].always
    if not schema.get("additionalProperties"):
        missing = [name for name in always if name not in schema.get("properties", {})]
        if missing:
            return f"`native`: {kind} is called with {_join(always)}, and the tool has no {_join(missing)}."
    wanted = [name for name in schema.get("required", ()) if name not in always]
    if wanted and kind not in _FREE:
        return f"`native`: {kind} may be called without {_join(wanted)}; give a default."
    lacking = [name for name in DISPLAY if not isinstance(tool.options.extras.get(name), int)]
    if kind == "computer_action" and lacking:
        return f"`native`: computer_action needs {_join(lacking)} in `extras`."
    return None


def _find_text_misfit(tool: CompiledTool) -> str | None:
    if find_text(tool.args_schema.flat) is None:
        return '`input`: a tool with input="text" takes one argument, a string.'
    return "`input` does not go with `native` or `toolset`." if tool.options.native or tool.options.toolset else None


def make_grammar_model(tool: CompiledTool, grammar: Grammar) -> type[BaseModel]:
    """Make a model of one text argument that shows its grammar to models; a `regex` is enforced.

    Raises:
        InvalidToolOption: The expression is invalid.
    """
    (name,) = tool.args_schema.flat["properties"]
    said = tool.args_schema.flat["properties"][name].get("description")
    text = f"A text that this {grammar.syntax} grammar allows:\n{grammar.definition}"
    pattern = f"^(?:{grammar.definition})$" if grammar.syntax == "regex" else None
    field: Any = Field(description=f"{said}\n\n{text}" if said else text, pattern=pattern)
    fields: dict[str, Any] = {name: (Annotated[str, field], ...)}
    try:
        model: type[BaseModel] = create_model(tool.name, **fields)
    except (SchemaError, PydanticUserError) as error:
        where = f"{tool.source}: tool {tool.name!r}"
        raise InvalidToolOption(f"{where}: option `grammar` is no regular expression: {error}") from error
    return model


def _join(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)
