"""sidecall lock: write the contracts of tools to a file, and report changes since."""

from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from sidecall.features.contract.lock import LOCK, InvalidLock, ToolChange, compare_tools, parse_lock, write_lock
from sidecall.kernel.registry import Registry
from sidecall.terminal.options import Tools, load_registry, read_settings, write_count

# The exit code of `sidecall check --lock` for differences that do not break callers.
COMPATIBLE = 3


def lock(tools: Tools = None) -> None:
    """Write `tools.lock`: the name, hash, description and parameters of each tool, which calls may be pinned to."""
    registry = load_registry(read_settings(tools=tools))
    Path(LOCK).write_text(write_lock(registry), encoding="utf-8")
    typer.echo(f"{LOCK}: {write_count(len(registry), 'tool')}")


def compare_with_lock(registry: Registry) -> list[ToolChange]:
    """List what has changed since `tools.lock` was written.

    Raises:
        InvalidLock: The file is missing or invalid.
    """
    path = Path(LOCK)
    if not path.is_file():
        raise InvalidLock(f"There is no {LOCK} in this folder. `sidecall lock` writes it.")
    return compare_tools(parse_lock(path.read_text(encoding="utf-8")), registry)


def print_changes(changes: list[ToolChange], console: Console) -> None:
    """Print changes, one a line."""
    for each in changes:
        level = ("breaks ", "red") if each.change.breaks else ("changed", "dim")
        console.print(Text.assemble(level, " ", (each.tool, "cyan"), f" {each.change.text}"))
    breaking = sum(each.change.breaks for each in changes)
    console.print(f"{LOCK}: {write_count(len(changes), 'change')}, {breaking} of them break callers")


def find_exit_code(changes: list[ToolChange]) -> int:
    """Return the exit code: 1 if callers break, 3 for other changes, 0 without changes."""
    if any(each.change.breaks for each in changes):
        return 1
    return COMPATIBLE if changes else 0
