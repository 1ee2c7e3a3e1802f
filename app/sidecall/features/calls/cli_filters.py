"""Command-line filters for calls and audit entries."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from sidecall.features.calls.entry import CallStatus

NameOption = Annotated[list[str] | None, typer.Option(help="Only calls of these tools. Repeatable.")]
TagOption = Annotated[list[str] | None, typer.Option(help="Only calls of tools with all of these tags. Repeatable.")]
StatusOption = Annotated[CallStatus | None, typer.Option(help="Only calls in this status.")]
KindOption = Annotated[str | None, typer.Option(help="Only calls that failed for this reason.")]
CallerOption = Annotated[str | None, typer.Option(help="Only calls of this caller.")]
_FORMS = "2026-03-14T09:00:00Z, or 30s, 15m, 2h or 7d ago"
SinceOption = Annotated[str | None, typer.Option(metavar="TIME", help=f"Only from then on: {_FORMS}.")]
UntilOption = Annotated[str | None, typer.Option(metavar="TIME", help=f"Only from before then: {_FORMS}.")]

_AGO = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def make_query(since: str | None = None, until: str | None = None, **equal: Any) -> dict[str, Any]:
    """Make the query of calls that were asked for; what was not given is left out."""
    times = {"since": _read_time("--since", since), "until": _read_time("--until", until)}
    return {name: value for name, value in {**equal, **times}.items() if value}


def _read_time(option: str, text: str | None) -> str | None:
    """Read a time in ISO 8601; without a zone it is local time."""
    if text is None:
        return None
    ago = _AGO.fullmatch(text)
    try:
        if ago is not None:
            time = datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        else:
            time = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is no time; write {_FORMS}", param_hint=option) from None
    return time.isoformat().replace("+00:00", "Z")
