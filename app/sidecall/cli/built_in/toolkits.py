"""sidecall toolkits: list what can be switched on."""

import asyncio

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sidecall.cli.options import Toolkits, read_settings
from sidecall.executors.sandbox.local import LocalSandbox
from sidecall.main import build_sandbox
from sidecall.toolkits.choosing import find_lack
from sidecall.toolkits.table import TOOLKITS, ShippedToolkit


def toolkits(toolkits: Toolkits = None) -> None:
    """List the toolkits that ship: whether they are on, what may go wrong with them, and what they lack here."""
    settings = read_settings(toolkits=toolkits)
    lacks = asyncio.run(_find_lacks(build_sandbox(settings)))
    table = Table(
        "toolkit", "", "tools", "risk", "asks a person", "lacks", box=None, header_style="bold", pad_edge=False
    )
    for toolkit in TOOLKITS:
        state = "[green]on[/]" if toolkit.name in settings.toolkits else "off"
        texts = (toolkit.tools, toolkit.risk, toolkit.asks, lacks[toolkit.name] or "")
        table.add_row(f"[cyan]{toolkit.name}[/]", state, *(escape(text) for text in texts))
    console = Console()
    console.print(table)
    console.print("Switch one on with `sidecall serve --toolkit NAME`, or with SIDECALL_TOOLKITS.", style="dim")


async def _find_lacks(sandbox: LocalSandbox) -> dict[str, str | None]:
    return {toolkit.name: await _find_lack(toolkit, sandbox) for toolkit in TOOLKITS}


async def _find_lack(toolkit: ShippedToolkit, sandbox: LocalSandbox) -> str | None:
    return find_lack(toolkit) or await sandbox.explain_lack(toolkit.sandbox)
