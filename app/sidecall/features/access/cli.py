"""sidecall keys: make, list and revoke API keys of callers."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.table import Column, Table

from sidecall.features.access.api_keys import ApiKey, KeyFile, mint_key
from sidecall.kernel.core.context import ANY_SCOPE
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.scopes import CALL, SERVER_SCOPES
from sidecall.kernel.ports.store import DEFAULT_TENANT
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.options import read_settings

keys = typer.Typer(
    help="Make, list and revoke keys of callers; of each the file has a hash only.", no_args_is_help=True
)

InFile = Annotated[
    Path | None, typer.Option("--file", metavar="PATH", help="The file of keys. [default: SIDECALL_KEYS_FILE]")
]
_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0}
_SPAN = re.compile(r"([1-9][0-9]{0,4})([hdw])")
_SCOPES = "; ".join(f"{name}: {what}" for name, what in SERVER_SCOPES.items())

_NAME = "has printable characters only, and no space at its ends"
_SHAPES = {
    "subject": f"a name {_NAME}",
    "tenant": f"a tenant {_NAME}",
    "scopes": "a scope has no spaces, quotes and backslashes; give each its own --scope",
}


class UnknownKey(SidecallError):
    """There is no such key."""


@keys.command()
def new(
    subject: Annotated[str, typer.Argument(metavar="NAME", help="Who calls with it.")],
    tenant: Annotated[str, typer.Option(help="Whose calls and data it shares.")] = DEFAULT_TENANT,
    scope: Annotated[
        list[str] | None,
        typer.Option(help=f"What it may do, repeatable; a tool's own, * for all, or: {_SCOPES}. [default: {CALL}]"),
    ] = None,
    expires: Annotated[str | None, typer.Option(metavar="SPAN", help="When it ends: 12h, 90d, 4w.")] = None,
    file: InFile = None,
) -> None:
    """Make a key and print it, this one time; a running server takes it within a second.

    A second key for the same name lets both be used until the first is revoked.
    """
    try:
        text, kept = mint_key(subject, tenant, tuple(scope or (CALL,)), _read_end(expires))
    except ValidationError as error:
        wrong = error.errors()[0]
        name, value = str(wrong["loc"][0]), wrong["input"]
        reason = _SHAPES[name] if wrong["type"] == "string_pattern_mismatch" else f"{name}: {wrong['msg']}"
        raise typer.BadParameter(f"{reason}; it is {value!r}") from None
    place = _open(file)
    place.change(lambda present: [*present, kept])
    typer.echo(f"{kept.id} of {kept.subject} ({', '.join(kept.scopes)}) is in {place.path}; this is it:", err=True)
    typer.echo(text)


@keys.command(name="list")
def list_keys(
    file: InFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the keys, those too that open nothing any more; never the keys themselves."""
    found = _open(file).read()
    if as_json:
        print_json([key.model_dump(mode="json", exclude={"sha256"}) for key in found])
        return
    # Without room, cells wrap; no part of a scope is left out.
    headings = [Column(name, overflow="fold") for name in ("id", "name", "tenant", "scopes", "created", "state")]
    table = Table(*headings, box=None, header_style="bold")
    for key in found:
        scopes = "all" if ANY_SCOPE in key.scopes else " ".join(key.scopes)
        table.add_row(key.id, key.subject, key.tenant, scopes, _write(key.created_at), _state_of(key))
    make_console().print(table)


@keys.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `sidecall keys list` has it.")],
    file: InFile = None,
) -> None:
    """Let a key open nothing any more; a running server knows it within a second."""

    def change(present: list[ApiKey]) -> list[ApiKey]:
        if all(key.id != key_id for key in present):
            raise UnknownKey(f"There is no key {key_id!r} in {place.path}.")
        return [key.revoke() if key.id == key_id else key for key in present]

    place = _open(file)
    place.change(change)
    typer.echo(f"{key_id} opens nothing any more", err=True)


def _open(file: Path | None) -> KeyFile:
    return KeyFile(read_settings(keys_file=file).keys_file)


def _read_end(span: str | None) -> datetime | None:
    if span is None:
        return None
    found = _SPAN.fullmatch(span)
    if found is None:
        raise typer.BadParameter(f"{span!r} is no span such as 12h, 90d or 4w", param_hint="--expires")
    return datetime.now(UTC).replace(microsecond=0) + timedelta(days=int(found[1]) * _DAYS[found[2]])


def _state_of(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return f"revoked {_write(key.revoked_at)}"
    if key.expires_at is None:
        return "valid"
    return f"{'valid until' if key.is_valid() else 'expired'} {_write(key.expires_at)}"


def _write(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
