"""sidecall reload: have a running server load its tools again."""

from typing import Annotated, Any

import typer
from rich.text import Text

from sidecall.features.calls.cli_rows import clean
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.options import write_count
from sidecall.terminal.remote import DEFAULT_URL, Url, ask, reach

_NOUNS = {"tools": "tool", "toolsets": "toolset", "mcp_servers": "MCP server"}
_STYLES = {"added": "green", "changed": "yellow", "removed": "red"}


def reload(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False, url: Url = DEFAULT_URL
) -> None:
    """Have a running server load tools, toolsets and MCP servers again; where one is broken, nothing changes."""
    with reach(url) as client:
        found = ask(client, "POST", "/reload")
    if as_json:
        print_json(found)
    else:
        print_changes(found)


def print_changes(found: dict[str, Any]) -> None:
    """Print for people what a reload has changed."""
    console = make_console(soft_wrap=True)
    named = 0
    for part, noun in _NOUNS.items():
        for change, style in _STYLES.items():
            for name in (found[part] or {}).get(change, ()):
                named += 1
                console.print(Text.assemble((change.ljust(8), style), f" {noun} {clean(name)}"))
    if found.get("certificate"):
        named += 1
        console.print(Text.assemble(("changed".ljust(8), _STYLES["changed"]), " certificate"))
    if not named:
        console.print("nothing is different")
    workers = f" in {found['workers']} workers" if found["workers"] > 1 else ""
    console.print(f"{write_count(found['offered'], 'tool')} of files offered{workers}")
