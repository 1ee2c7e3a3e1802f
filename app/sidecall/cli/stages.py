"""sidecall stages: print what the calls of a tool go through."""

from collections.abc import Iterable
from typing import Annotated

import typer

from sidecall.kernel.pipeline.gate import name_step
from sidecall.kernel.pipeline.stage import Step
from sidecall.main import create_app
from sidecall.terminal.options import Toolkits, Tools, find_named, load_registry, read_settings


def stages(
    name: Annotated[str, typer.Argument(metavar="TOOL", help="The name of the tool.")],
    tools: Tools = None,
    toolkits: Toolkits = None,
) -> None:
    """Print the steps of a tool's calls in their order, and the steps of calls that fail."""
    settings = read_settings(tools=tools, toolkits=toolkits)
    registry = load_registry(settings)
    plan = create_app(settings, registry).state.parts.pipeline.plans.of(find_named(registry, name))
    _print("success", plan.success)
    _print("failure", plan.failure)


def _print(title: str, steps: Iterable[Step]) -> None:
    typer.echo(f"{title}:")
    for number, step in enumerate(steps, 1):
        typer.echo(f"{number:4}  {name_step(step)}")
