"""sidecall workspace: the files of a conversation on a running server."""

import sys
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer
from rich.table import Table

from sidecall.features.workspaces.limits import write_size
from sidecall.features.workspaces.steps import make_file_id
from sidecall.kernel.core.errors import SidecallError
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.remote import DEFAULT_URL, AsJson, Url, ask, place_of, reach, require

workspace = typer.Typer(help="See, fetch, send and delete the files of a conversation.", no_args_is_help=True)

Conversation = Annotated[str, typer.Argument(help="The conversation, as in the header Sidecall-Conversation.")]
FilePath = Annotated[str, typer.Argument(metavar="PATH", help="The file, such as /workspace/report.csv or report.csv.")]
_PAGE = 1000


class NoFile(SidecallError):
    """There is no such file here."""


@workspace.command("ls")
def list_files(conversation: Conversation, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """List the files of a conversation."""
    found = _list_all(url, conversation)
    console = make_console()
    if as_json:
        print_json(found)
        return
    table = Table("file", "size", "from", box=None, header_style="bold", pad_edge=False)
    for file in found:
        table.add_row(file["path"], write_size(file["bytes"]), file["source"])
    console.print(table)


def _list_all(url: str, conversation: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    query: dict[str, Any] = {"limit": _PAGE}
    with reach(url) as client:
        while True:
            page = ask(client, "GET", f"{place_of('workspaces', conversation)}/files", params=query)
            found += page["data"]
            if not page["has_more"]:
                return found
            query["after"] = page["last_id"]


@workspace.command()
def get(
    conversation: Conversation,
    path: FilePath,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write it; `-` prints it.")] = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Fetch a file; without --output it is written under its own name, where there is none yet."""
    target = Path(PurePosixPath(path).name) if output is None else output
    if output is None and target.exists():
        raise NoFile(f"There is a file {str(target)!r} here already. Say where to write it with --output.")
    with reach(url) as client:
        body = require(client.get(f"{_place(conversation, path)}/content")).content
    if str(target) == "-":
        sys.stdout.buffer.write(body)
    else:
        target.write_bytes(body)


@workspace.command()
def put(
    conversation: Conversation,
    file: Annotated[Path, typer.Argument(help="The file to send.")],
    path: Annotated[str | None, typer.Argument(help="Where to put it; under its own name without one.")] = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Send a file, and print where it is; one that is there is replaced."""
    if not file.is_file():
        raise NoFile(f"There is no file {str(file)!r}.")
    with reach(url) as client:
        sent = {"files": {"file": (file.name, file.read_bytes())}, "data": {"path": path or file.name}}
        shown = ask(client, "POST", f"{place_of('workspaces', conversation)}/files", **sent)
    typer.echo(shown["path"])


@workspace.command()
def rm(
    conversation: Conversation,
    path: Annotated[str | None, typer.Argument(help="The file; all of them without one, with --all.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove the whole workspace.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Delete a file, or with --all the workspace of a conversation."""
    if (path is None) != everything:
        raise NoFile("Name a file, or remove all of them with --all.")
    with reach(url) as client:
        require(client.delete(place_of("workspaces", conversation) if path is None else _place(conversation, path)))


def _place(conversation: str, path: str) -> str:
    return f"{place_of('workspaces', conversation)}/files/{make_file_id(path)}"
