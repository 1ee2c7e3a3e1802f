"""sidecall toolkits: list what can be switched on."""

import asyncio
from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from sidecall.features.sandbox.feature import make_sandbox
from sidecall.features.sandbox.local_sandbox import LocalSandbox
from sidecall.loading.toolkits import TOOLKITS, ShippedToolkit, find_missing
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.options import Toolkits, read_settings
from sidecall.terminal.remote import AsJson


def toolkits(toolkits: Toolkits = None, as_json: AsJson = False) -> None:
    """List the toolkits that ship: whether they are on, what may go wrong with them, and what they lack here."""
    settings = read_settings(toolkits=toolkits)
    lacks = asyncio.run(_list_missing(make_sandbox(settings)))
    told = [_describe(toolkit, toolkit.name in settings.toolkits, lacks[toolkit.name]) for toolkit in TOOLKITS]
    console = make_console()
    if as_json:
        print_json(told)
        return
    table = Table.grid(padding=(0, 2))
    # Names are printed in full in any width, since they are typed.
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in told:
        state = Text("on", "green") if one["on"] else "off"
        table.add_row(Text(one["name"], "cyan"), state, _format_state(one))
    console.print(table)
    console.print("Switch one on with `sidecall serve --toolkit NAME`, or with SIDECALL_TOOLKITS.", style="dim")


def _describe(toolkit: ShippedToolkit, is_on: bool, lack: str | None) -> dict[str, Any]:
    said = {"tools": toolkit.tools.split(", "), "risk": toolkit.risk, "asks_about": toolkit.asks, "lacks": lack}
    return {"name": toolkit.name, "on": is_on, **said}


def _format_state(told: Mapping[str, Any]) -> str:
    said = [", ".join(told["tools"]), told["risk"], f"A person is asked about {told['asks_about']}."]
    return "\n".join([*said, *([f"It lacks something: {told['lacks']}"] if told["lacks"] else [])])


async def _list_missing(sandbox: LocalSandbox) -> dict[str, str | None]:
    try:
        return {toolkit.name: await _find_missing(toolkit, sandbox) for toolkit in TOOLKITS}
    finally:
        await sandbox.close()


async def _find_missing(toolkit: ShippedToolkit, sandbox: LocalSandbox) -> str | None:
    return find_missing(toolkit) or await sandbox.explain_lack(toolkit.sandbox)
