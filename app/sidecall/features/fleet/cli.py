"""sidecall fleet: the workers and servers of a fleet on one screen."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import typer
from rich.table import Table

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus_client import ask_to_drain, find_all
from sidecall.kernel.core.errors import SidecallError
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.options import read_settings
from sidecall.terminal.remote import AsJson

fleet = typer.Typer(invoke_without_command=True, no_args_is_help=False)
_WORKER = ("worker", "queue", "tools", "slots", "running", "pool", "state")
_GATEWAY = ("server", "waiting", "running", "lost in the last hour")


class NoFleet(SidecallError):
    """There is no fleet to ask, or not what was asked for."""


@fleet.callback(invoke_without_command=True)
def list_fleet(context: typer.Context, as_json: AsJson = False) -> None:
    """Print who is on the bus that SIDECALL_FLEET names: workers with their queues, and servers with their calls."""
    if context.invoked_subcommand is not None:
        return
    found = _ask(find_all)
    if as_json:
        print_json(found)
    else:
        _print(found)


@fleet.command()
def drain(name: Annotated[str, typer.Argument(help="The worker's name, as `sidecall fleet` lists it.")]) -> None:
    """Have a worker take no more calls, finish those that run, and end."""
    if not _ask(lambda access: ask_to_drain(access, name)):
        raise NoFleet(f"There is no worker {name!r}; `sidecall fleet` lists them.")
    typer.echo(f"{name} takes no more calls, and ends when those that run have ended")


def _ask(make: Callable[[BusAccess], Coroutine[Any, Any, Any]]) -> Any:
    access = BusAccess.require(read_settings())
    logging.getLogger("sidecall.fleet").setLevel(logging.CRITICAL)
    return asyncio.run(make(access))


def _print(found: dict[str, list[dict[str, Any]]]) -> None:
    console = make_console()
    table = Table(*_WORKER, box=None, header_style="bold")
    for it in found["workers"]:
        state = "draining" if it["draining"] else "ready"
        table.add_row(
            it["name"], it["queue"], str(it["tools"]), str(it["slots"]), str(it["running"]), it["pool"], state
        )
    console.print(table)
    table = Table(*_GATEWAY, box=None, header_style="bold")
    for it in found["servers"]:
        table.add_row(it["name"], _write(it["waiting"]), _write(it["running"]), str(it["lost"]))
    console.print(table)


def _write(counts: dict[str, int]) -> str:
    return ", ".join(f"{queue} {count}" for queue, count in sorted(counts.items())) or "none"
