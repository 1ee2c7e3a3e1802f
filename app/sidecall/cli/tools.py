"""sidecall tools: list the tools."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.describe import describe
from sidecall.kernel.schema.forms.definitions import DefinitionFormat, render_definitions
from sidecall.kernel.schema.forms.one_object import join_root
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.options import Toolkits, Tools, load_registry, read_settings, write_count


def tools(
    tools: Tools = None,
    toolkits: Toolkits = None,
    format: Annotated[DefinitionFormat | None, typer.Option(help="Print JSON in a provider's form.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="With --format: strict where possible.")] = False,
) -> None:
    """List the tools as a table, or as JSON for a provider."""
    registry = load_registry(read_settings(tools=tools, toolkits=toolkits))
    console = make_console()
    if format is not None:
        print_json(render_definitions(list(registry), format, strict=strict))
        return
    table = Table("tool", "tokens", "arguments", "description", "tags", "source", box=None, header_style="bold")
    tokens: dict[str, int] = {}
    for tool in registry:
        tokens[tool.name] = estimate_tokens(tool)
        texts = (
            str(tokens[tool.name]),
            _describe_arguments(tool),
            _summarize(tool),
            " ".join(tool.options.tags),
            tool.source,
        )
        table.add_row(Text(tool.name, "cyan"), *texts)
    console.print(table)
    console.print(f"{write_count(len(tokens), 'tool')}, about {sum(tokens.values())} tokens")


def _describe_arguments(tool: CompiledTool) -> str:
    schema = join_root(tool.args_schema.flat)
    required = schema.get("required", ())
    return "\n".join(
        f"{name}{'' if name in required else '?'}: {describe(value)}" for name, value in schema["properties"].items()
    )


def _summarize(tool: CompiledTool) -> str:
    return tool.description.partition("\n\n")[0].replace("\n", " ")


# What tokenizers make one token of in JSON with English text: a short word with the space before it, a run of marks.
_PIECE = re.compile(r" ?[^\W\d_]{1,8}|\d{1,3}|[^\w\s]{1,3}|_|\s+")


def estimate_tokens(tool: CompiledTool) -> int:
    """Estimate the tokens of one tool's definition in OpenAI's form; no tokenizer is loaded.

    For a hosted tool it is the declaration, which the provider replaces by a text of unknown length.
    """
    if tool.declaration is not None:
        return _count(tool.declaration)
    return estimate_definition(render_definitions([tool], "openai")[0])


def estimate_definition(definition: Mapping[str, Any]) -> int:
    """Estimate the tokens of any definition in OpenAI's form."""
    return _count(definition["function"])


def _count(definition: Mapping[str, Any]) -> int:
    return len(_PIECE.findall(json.dumps(definition, ensure_ascii=False, separators=(",", ":"))))
