"""sidecall calls: the calls that a running server has stored."""

from pathlib import Path
from typing import Annotated

import httpx
import typer

from sidecall.features.calls.cli_follow import (
    CallerOption,
    ConversationOption,
    KindOption,
    NameOption,
    RequestOption,
    SinceOption,
    StatusOption,
    TagOption,
    TraceOption,
    UntilOption,
    follow,
    make_query,
)
from sidecall.features.calls.cli_rows import print_calls
from sidecall.terminal.console import print_json, print_lines
from sidecall.terminal.remote import (
    DEFAULT_URL,
    AsJson,
    RefusedByServer,
    Url,
    ask,
    list_pages,
    place_of,
    reach,
    require,
    require_id,
)

calls = typer.Typer(help="Ask a running server for calls that it remembers; alone it lists them, newest first.")

WhichCall = Annotated[str, typer.Argument(metavar="ID", callback=require_id, help="The call.")]
# The server's text for programs.
_INSIST = 'Send {"insist": true}'
MostListed = Annotated[int, typer.Option(min=1, help="Most calls that are listed.")]


@calls.callback(invoke_without_command=True)
def list_calls(
    ctx: typer.Context,
    name: NameOption = None,
    tag: TagOption = None,
    status: StatusOption = None,
    kind: KindOption = None,
    caller: CallerOption = None,
    conversation: ConversationOption = None,
    trace_id: TraceOption = None,
    request_id: RequestOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: MostListed = 20,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Ask a running server for calls that it remembers; alone it lists them, newest first."""
    if ctx.invoked_subcommand is not None:
        refuse_misplaced(ctx)
        return
    of_what = {"conversation": conversation, "trace_id": trace_id, "request_id": request_id}
    query = make_query(since, until, name=name, tag=tag, status=status, kind=kind, caller=caller, **of_what)
    with reach(url) as client:
        found = list_pages(client, "/tool_calls", limit, query)
    if as_json:
        print_json(found)
    else:
        print_calls(found)


calls.command("list", help="List calls that it remembers, as `calls` alone does.")(list_calls)


def refuse_misplaced(ctx: typer.Context) -> None:
    """Refuse options before a subcommand, which would ignore them.

    Raises:
        BadParameter: There are some.
    """
    for name in ctx.params:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"write options behind `{ctx.invoked_subcommand}`, not in front of it")


@calls.command()
def show(call_id: WhichCall, url: Url = DEFAULT_URL) -> None:
    """Print one call as JSON, with its answer."""
    with reach(url) as client:
        print_json(ask(client, "GET", place_of("tool_calls", call_id)))


@calls.command()
def replay(
    call_id: WhichCall,
    insist: Annotated[
        bool, typer.Option("--insist", help="Also where its tool is neither read-only nor idempotent.")
    ] = False,
    wait: Annotated[int | None, typer.Option(min=0, help="Seconds to wait for the answer.")] = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Run a call again, and print the new one, or its answer if it comes in time."""
    headers = {} if wait is None else {"Prefer": f"wait={wait}"}
    with reach(url) as client:
        place = place_of("tool_calls", call_id)
        try:
            print_json(ask(client, "POST", f"{place}/replay", json={"insist": insist}, headers=headers))
        except RefusedByServer as refused:
            raise RefusedByServer(str(refused).replace(_INSIST, "Say --insist"), refused.status) from None


@calls.command()
def cancel(call_id: WhichCall, url: Url = DEFAULT_URL) -> None:
    """Cancel a call that waits or runs, and print it."""
    with reach(url) as client:
        print_json(ask(client, "POST", f"{place_of('tool_calls', call_id)}/cancel"))


@calls.command()
def export(
    name: NameOption = None,
    tag: TagOption = None,
    status: StatusOption = None,
    kind: KindOption = None,
    caller: CallerOption = None,
    conversation: ConversationOption = None,
    trace_id: TraceOption = None,
    request_id: RequestOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of the terminal.")] = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Write calls out as JSON Lines, newest first, with their answers."""
    of_what = {"conversation": conversation, "trace_id": trace_id, "request_id": request_id}
    query = make_query(since, until, name=name, tag=tag, status=status, kind=kind, caller=caller, **of_what)
    with reach(url) as client, client.stream("GET", "/tool_calls/export", params=query) as response:
        if not response.is_success:
            response.read()
        _copy(require(response), output)


def _copy(response: httpx.Response, output: Path | None) -> None:
    if output is None:
        print_lines(response)
        return
    with output.open("wb") as file:
        for piece in response.iter_bytes():
            file.write(piece)


calls.command()(follow)
