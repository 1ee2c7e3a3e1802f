"""sidecall audit: decisions and refusals on a running server."""

from typing import Annotated

import typer

from sidecall.features.audit.stores import AuditAction
from sidecall.features.calls.cli_follow import SinceOption, UntilOption, make_query
from sidecall.features.calls.cli_rows import print_audit
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
        print_audit(found)
