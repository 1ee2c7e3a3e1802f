"""sidecall audit: decisions and refusals on a running server."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from sidecall.features.audit.stores import AuditAction
from sidecall.features.calls.cli_follow import SinceOption, UntilOption, make_query
from sidecall.features.calls.cli_rows import print_table, write_args, write_time
from sidecall.terminal.console import print_json
from sidecall.terminal.remote import DEFAULT_URL, AsJson, Url, list_pages, reach


def audit(
    action: Annotated[AuditAction | None, typer.Option(help="Only entries of this kind.")] = None,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this caller.")] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: Annotated[int, typer.Option(min=1, help="Most entries that are listed.")] = 50,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List who has decided what on a running server, and who was refused, latest first."""
    with reach(url) as client:
        found = list_pages(client, "/audit", limit, make_query(since, until, action=action, by=by))
    if as_json:
        print_json(found)
    else:
        _print_entries(found)


def _print_entries(entries: Iterable[dict[str, Any]]) -> None:
    rows = []
    for entry in entries:
        times = "" if entry["count"] == 1 else f"{entry['count']} times "
        about = "" if entry["target"] is None else f"{entry['target']} "
        said = f"{times}{about}{write_args(entry['details'])}"
        rows.append((write_time(entry["at"]), entry["action"], entry["by"] or "-", said))
    print_table(("when", "what", "by", "about"), rows)
