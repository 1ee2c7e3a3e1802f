"""sidecall stages: print what the calls of a tool go through."""

from collections.abc import Iterable
from typing import Annotated

import typer

from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.gate import name_step
from sidecall.kernel.pipeline.stage import Step
from sidecall.kernel.registry import Registry
from sidecall.kernel.suggest.fuzzy_match import find_closest_names
from sidecall.main import create_app
from sidecall.terminal.options import Toolkits, Tools, load_registry, read_settings


class UnknownTool(SidecallError):
    """No tool has this name."""


def stages(
    name: Annotated[str, typer.Argument(metavar="TOOL", help="The name of the tool.")],
    tools: Tools = None,
    toolkits: Toolkits = None,
) -> None:
    """Print the steps of a tool's calls in their order, and the steps of calls that fail."""
    settings = read_settings(tools=tools, toolkits=toolkits)
    registry = load_registry(settings)
    plan = create_app(settings, registry).state.parts.pipeline.plans.of(_find(registry, name))
    _print("success", plan.success)
    _print("failure", plan.failure)


def _find(registry: Registry, name: str) -> CompiledTool:
    tool = registry.get(name)
    if tool is None:
        alike = find_closest_names(name, registry.names)
        raise UnknownTool(f"there is no tool '{name}'" + (f"; did you mean {', '.join(alike)}?" if alike else ""))
    return tool


def _print(title: str, steps: Iterable[Step]) -> None:
    typer.echo(f"{title}:")
    for number, step in enumerate(steps, 1):
        typer.echo(f"{number:4}  {name_step(step)}")
