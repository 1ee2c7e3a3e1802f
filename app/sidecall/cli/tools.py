"""sidecall tools: list the tools; sidecall stages: print what the calls of one go through."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sidecall.features.credentials.server_secrets import secrets_in
from sidecall.kernel.core.injection import InjectedParameter
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.gate import name_step
from sidecall.kernel.pipeline.stage import Step
from sidecall.kernel.schema.describe import describe
from sidecall.kernel.schema.forms.definitions import DefinitionFormat, render_definitions
from sidecall.kernel.schema.forms.one_object import join_root
from sidecall.kernel.schema.references import inline_references
from sidecall.settings import Settings
from sidecall.terminal.console import escape, make_console, print_json
from sidecall.terminal.options import (
    Toolkits,
    Tools,
    find_named,
    load_registry,
    make_server,
    read_settings,
    write_count,
)


def tools(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show this tool alone, with what it takes.")
    ] = None,
    tools: Tools = None,
    toolkits: Toolkits = None,
    format: Annotated[DefinitionFormat | None, typer.Option(help="Print JSON in a provider's form.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="With --format: strict where possible.")] = False,
) -> None:
    """List the tools as a table, or as JSON for a provider."""
    settings = read_settings(tools=tools, toolkits=toolkits)
    registry = load_registry(settings)
    chosen = list(registry) if name is None else [find_named(registry, name)]
    console = make_console()
    if format is not None:
        print_json(render_definitions(chosen, format, strict=strict))
    elif name is not None:
        _show_one(console, chosen[0], settings)
    else:
        _list_all(console, chosen)


def _show_one(console: Console, tool: CompiledTool, settings: Settings) -> None:
    """Print one tool: what it is for, its arguments, and what it is given beside them."""
    console.print(Text(tool.name, "bold cyan"), Text(tool.source, "dim"))
    console.print(Text(f"\n{escape(tool.description)}\n"))
    console.print(Text(_describe_arguments(tool) or "no arguments"))
    secrets = secrets_in(settings.secrets_dir)
    injected = [it.mark(None, secrets) for it in tool.describe_injected()]
    if injected:
        table = Table("injected", "from", "path", "type", "set", box=None, header_style="bold")
        for it in injected:
            texts = (it.source, it.path, _describe_value(it), {None: "", True: "yes", False: "no"}[it.is_set])
            table.add_row(Text(f"{it.name}{'' if it.required else '?'}", "cyan"), *map(Text, texts))
        console.print()
        console.print(table)


def _describe_value(injected: InjectedParameter) -> str:
    return describe(inline_references(injected.value_schema)) if injected.value_schema else ""


def _list_all(console: Console, tools: list[CompiledTool]) -> None:
    table = Table("tool", "tokens", "arguments", "description", "tags", "source", box=None, header_style="bold")
    tokens: dict[str, int] = {}
    for tool in tools:
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


def stages(
    name: Annotated[str, typer.Argument(metavar="TOOL", help="The name of the tool.")],
    tools: Tools = None,
    toolkits: Toolkits = None,
) -> None:
    """Print the steps of a tool's calls in their order, and the steps of calls that fail."""
    settings = read_settings(tools=tools, toolkits=toolkits)
    registry = load_registry(settings)
    plan = make_server(settings, registry).state.parts.pipeline.plans.of(find_named(registry, name))
    _print("success", plan.success)
    _print("failure", plan.failure)


def _print(title: str, steps: Iterable[Step]) -> None:
    typer.echo(f"{title}:")
    for number, step in enumerate(steps, 1):
        typer.echo(f"{number:4}  {name_step(step)}")
