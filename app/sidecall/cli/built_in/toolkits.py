"""sidecall toolkits: list what can be switched on."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sidecall.cli.options import Toolkits, read_settings
from sidecall.toolkits.choosing import find_lack
from sidecall.toolkits.table import TOOLKITS


def toolkits(toolkits: Toolkits = None) -> None:
    """List the toolkits that ship: whether they are on, what may go wrong with them, and what they lack here."""
    on = read_settings(toolkits=toolkits).toolkits
    table = Table(
        "toolkit", "", "tools", "risk", "asks a person", "lacks", box=None, header_style="bold", pad_edge=False
    )
    for toolkit in TOOLKITS:
        state = "[green]on[/]" if toolkit.name in on else "off"
        texts = (toolkit.tools, toolkit.risk, toolkit.asks, find_lack(toolkit) or "")
        table.add_row(f"[cyan]{toolkit.name}[/]", state, *(escape(text) for text in texts))
    console = Console()
    console.print(table)
    console.print("Switch one on with `sidecall serve --toolkit NAME`, or with SIDECALL_TOOLKITS.", style="dim")
