"""sidecall calls follow: print calls as they arrive and end."""

import re
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import httpx
import typer

from sidecall.features.calls.cli_rows import open_console, write_line
from sidecall.kernel.ports.call_entry import CallStatus
from sidecall.terminal.console import print_line
from sidecall.terminal.remote import DEFAULT_URL, RefusedByServer, Url, ask, list_pages, place_of, reach

NameOption = Annotated[list[str] | None, typer.Option(help="Only calls of these tools. Repeatable.")]

TagOption = Annotated[list[str] | None, typer.Option(help="Only calls of tools with all of these tags. Repeatable.")]

StatusOption = Annotated[CallStatus | None, typer.Option(help="Only calls in this status.")]

KindOption = Annotated[str | None, typer.Option(help="Only calls that failed for this reason.")]

CallerOption = Annotated[str | None, typer.Option(help="Only calls of this caller.")]

ConversationOption = Annotated[str | None, typer.Option(help="Only calls of this conversation.")]

TraceOption = Annotated[str | None, typer.Option("--trace-id", help="Only calls of this trace.")]

RequestOption = Annotated[str | None, typer.Option("--request-id", help="Only calls of this HTTP request.")]

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


# Seconds between two looks.
_PAUSE = 1.0
# With several servers a call may appear this much later than a newer one.
_LATE = timedelta(seconds=5)
# Calls that are read in one poll, and unfinished calls that are watched.
_MOST = 10_000

_MOST_OPEN = 20

_OPEN = frozenset(("queued", "running", "awaiting_approval"))

ShownCall = dict[str, Any]


class Follower:
    """Tracks the calls that were printed, and finds new and changed ones."""

    def __init__(self, client: httpx.Client, query: dict[str, Any]) -> None:
        """Begin after the newest call, which is not printed."""
        self._client = client
        self._query = query
        self._seen: dict[str, ShownCall] = {}
        self._newest: datetime | None = None
        newest = list_pages(client, "/tool_calls", 1, query)
        self._began = newest[0]["id"] if newest else ""
        self._note(newest)

    def find_news(self) -> list[ShownCall]:
        """Return calls that are new or have ended, oldest first."""
        query = dict(self._query)
        if self._newest is not None:
            query["since"] = (self._newest - _LATE).isoformat().replace("+00:00", "Z")
        found = list_pages(self._client, "/tool_calls", _MOST, query)
        found = [call for call in found if call["id"] not in self._seen and self._is_late_enough(call)]
        ended = [call for call in self._ask_for_open() if call["status"] not in _OPEN]
        self._note([*found, *ended])
        return [*reversed(found), *ended]

    def _is_late_enough(self, call: ShownCall) -> bool:
        return bool(call["id"] > self._began)

    def _ask_for_open(self) -> list[ShownCall]:
        """Ask for some of those that had not ended, each time for others."""
        open_ids = [call_id for call_id, call in self._seen.items() if call["status"] in _OPEN][:_MOST_OPEN]
        asked = {call_id: self._ask_for(call_id) for call_id in open_ids}
        for call_id, call in asked.items():
            seen = self._seen.pop(call_id)
            if call is not None:
                self._seen[call_id] = {**seen, "status": call["status"]}
        return [call for call in asked.values() if call is not None]

    def _ask_for(self, call_id: str) -> ShownCall | None:
        """Ask for a call; None where the server no longer knows it, for instance after a restart."""
        try:
            return dict(ask(self._client, "GET", place_of("tool_calls", call_id)))
        except RefusedByServer as error:
            if error.status == httpx.codes.NOT_FOUND:
                return None
            raise

    def _note(self, calls: list[ShownCall]) -> None:
        for call in calls:
            self._seen[call["id"]] = {"status": call["status"], "created_at": call["created_at"]}
        times = [datetime.fromisoformat(call["created_at"]) for call in calls]
        self._newest = max([*times, *([] if self._newest is None else [self._newest])], default=None)
        if self._newest is not None:
            oldest = (self._newest - 2 * _LATE).timestamp()
            self._seen = {call_id: call for call_id, call in self._seen.items() if _is_needed(call, oldest)}


def _is_needed(call: ShownCall, oldest: float) -> bool:
    return call["status"] in _OPEN or datetime.fromisoformat(call["created_at"]).timestamp() >= oldest


def follow(
    name: NameOption = None,
    tag: TagOption = None,
    status: StatusOption = None,
    kind: KindOption = None,
    caller: CallerOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one call a line, as JSON.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Print calls as they arrive, and again when they end, until Ctrl+C; survive restarts of the server."""
    query = make_query(name=name, tag=tag, status=status, kind=kind, caller=caller)
    console = open_console()
    with suppress(KeyboardInterrupt), reach(url) as client:
        follower = Follower(client, query)
        while True:
            for call in _insist(follower, url):
                if as_json:
                    print_line({**call, "message": None})
                else:
                    console.print(write_line(call), no_wrap=True, overflow="ellipsis", crop=True)
            time.sleep(_PAUSE)


def _insist(follower: Follower, url: str) -> list[ShownCall]:
    """Poll until the server answers; report once that it is down, and once that it is back."""
    is_away = False
    while True:
        try:
            news = follower.find_news()
        # A text that is no JSON comes from a gateway whose server is restarting.
        except (httpx.TransportError, RefusedByServer, ValueError) as error:
            if isinstance(error, RefusedByServer) and not error.may_pass:
                raise
            if not is_away:
                why = str(error).rstrip(".") or type(error).__name__
                typer.echo(f"{url} cannot be asked just now, and is tried again until Ctrl+C: {why}.", err=True)
            is_away = True
            time.sleep(_PAUSE)
        else:
            if is_away:
                typer.echo(f"{url} answers again.", err=True)
            return news
