"""sidecall settings: what holds, and where it comes from."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sidecall.composition.features import load_features
from sidecall.settings.sources import KnownSetting, SettingsReport, report_settings
from sidecall.terminal.console import escape, make_console, print_json


def settings(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    only_set: Annotated[bool, typer.Option("--set", help="Leave out what has its default.")] = False,
) -> None:
    """Print every setting, what it is and where that comes from; exit code 1 where no server would start with them."""
    # Variables that are in the environment or not say themselves whether packages are asked.
    use_entry_points = os.environ.get("SIDECALL_ENTRY_POINTS", "").lower() not in ("false", "0", "no", "off", "f", "n")
    features = load_features(use_entry_points=use_entry_points)
    owners = [(feature.name, feature.settings) for feature in features if feature.settings is not None]
    report = report_settings(os.environ, owners, Path.cwd())
    rows = sorted((row for row in report.settings if not only_set or row.source != "default"), key=lambda row: row.name)
    if as_json:
        print_json(_write_json(report, rows))
    else:
        _print_lines(report, rows)
    raise typer.Exit(1 if report.problems else 0)


def _write_json(report: SettingsReport, rows: Iterable[KnownSetting]) -> dict[str, Any]:
    return {
        "settings": [row._asdict() for row in rows],
        "unknown": [{"name": name, "nearest": near} for name, near in report.unknown.items()],
        "clients": report.clients,
        "unread": {"file": ".env", "names": report.unread} if report.unread else None,
        "problems": report.problems,
    }


def _print_lines(report: SettingsReport, rows: Iterable[KnownSetting]) -> None:
    console = make_console(soft_wrap=True)
    shown = [(row.name, _name_source(row), _write_value(row.value)) for row in rows]
    shown += [(name, "environment, for clients", value) for name, value in report.clients.items()]
    # The value stands last, since it may be long.
    widths = [max((len(line[column]) for line in shown), default=0) for column in (0, 1)]
    for name, source, value in shown:
        style = "dim" if source.startswith("default") else "cyan"
        console.print(Text.assemble(name.ljust(widths[0] + 2), (source.ljust(widths[1] + 2), style), escape(value)))
    for name, near in report.unknown.items():
        hint = f"; the nearest is {near}" if near is not None else ""
        console.print(Text(f"{escape(name)} is no setting{hint}", "yellow"))
    if report.unread:
        names = ", ".join(map(escape, report.unread))
        text = f".env here has what is not in the environment, where alone servers look: {names}"
        console.print(Text(text, "yellow"))
    for problem in report.problems:
        console.print(Text(f"no server starts: {escape(problem)}", "bold red"))


def _name_source(row: KnownSetting) -> str:
    return row.source if row.owner == "server" else f"{row.source}, feature {row.owner}"


def _write_value(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
