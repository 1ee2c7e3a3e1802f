"""sidecall tools: list the tools."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sidecall.cli.tokens import estimate_tokens
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.describe import describe
from sidecall.kernel.schema.forms.definitions import DefinitionFormat, render_definitions
from sidecall.kernel.schema.forms.one_object import join_root
from sidecall.terminal.console import make_console
from sidecall.terminal.given import load_registry, read_settings, write_count
from sidecall.terminal.json_output import print_json
from sidecall.terminal.options import Toolkits, Tools


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
