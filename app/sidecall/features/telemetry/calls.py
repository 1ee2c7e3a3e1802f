"""Observe every call from beginning to end."""

import faulthandler
import logging.config
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sidecall.features.telemetry.feature import LogFormat
from sidecall.features.telemetry.log_lines import CallLines
from sidecall.features.telemetry.log_writer import redirect_streams
from sidecall.features.telemetry.metrics import UNKNOWN, Metrics
from sidecall.features.telemetry.tally import Tally
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.origin import CALL
from sidecall.kernel.core.overload import CallRefused
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.approvals.approval import AlreadyAnswered
from sidecall.kernel.ports.observer import CallNotes, Outcome

_get_call, _set_call = CALL.get, CALL.set
# By name, so that a server that writes JSON does not load the column formatter.
_JSON = "sidecall.features.telemetry.log_lines.make_json_lines"

_TERMINAL = "sidecall.features.telemetry.terminal_lines.make_terminal_lines"
# They warn of malformed headers, with which any client could fill the log.
_TALKATIVE = ("opentelemetry.baggage.propagation", "opentelemetry.trace.span", "python_multipart")


def make_log_config(level: str, form: LogFormat, redact: Iterable[str] = ()) -> dict[str, Any]:
    """Configure `logging` for a server: our lines, uvicorn's, those of libraries, and warnings.

    Plain values only, since uvicorn passes it to worker processes.
    """
    ours = {"level": level.upper()}
    formatter = {"()": _JSON if is_json(form) else _TERMINAL, "redact": list(redact)}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"sidecall": formatter},
        "handlers": {
            "stderr": {"class": "sidecall.features.telemetry.log_writer.LineHandler", "formatter": "sidecall"}
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {"sidecall": ours, "uvicorn": ours, **{name: {"level": "ERROR"} for name in _TALKATIVE}},
    }


def begin_to_log(level: str, form: LogFormat, redact: Iterable[str], buffer_bytes: int) -> None:
    """Configure logging for this process, whose lines wait in so many bytes; a crash of Python prints its stack."""
    redirect_streams(buffer_bytes)
    faulthandler.enable(all_threads=False)
    logging.config.dictConfig(make_log_config(level, form, redact))


def is_json(form: LogFormat) -> bool:
    """Choose JSON, unless the output is a terminal."""
    return form == "json" or (form == "auto" and not sys.stderr.isatty())


class Tracing(Protocol):
    """Follow calls with spans."""

    def begin(self, invocation: Invocation) -> Any:
        """Begin a call's span, and name its trace in the invocation; what this returns is handed to `end`."""

    def end(self, invocation: Invocation, begun: Any, outcome: str) -> None:
        """End it."""

    def headers(self) -> dict[str, str]:
        """Name the span that is current, for another process."""

    def within(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Make the spans of a `with` block children of the one that another process has named."""

    @property
    def dropped(self) -> int | None:
        """How many spans were lost; None where this process sends none."""

    async def close(self) -> None:
        """Send the remaining spans."""


# A call's tally, its parent call, its span, and its notes.
_Begun = tuple[Tally, Invocation | None, Any, Any]


class CallTelemetry:
    """Count calls, log them, and follow them with spans."""

    def __init__(
        self,
        metrics: Metrics,
        lines: CallLines | None = None,
        tracing: Tracing | None = None,
        notes: CallNotes | None = None,
    ) -> None:
        """Observe calls."""
        self._metrics = metrics
        self._tallies = metrics.tallies
        self._lines = lines or CallLines()
        self._tracing = tracing
        self._notes = notes

    @property
    def spans_dropped(self) -> int | None:
        """How many spans were lost; None where this process sends none."""
        return None if self._tracing is None else self._tracing.dropped

    def begin(self, invocation: Invocation) -> _Begun:
        """Begin to observe an accepted call; the result is for `end`."""
        name = invocation.tool.name
        tally = self._tallies[name] if name in self._tallies else self._metrics.tally(name)
        tally.begun += 1
        outer = _get_call()
        _set_call(invocation)
        traced = None if self._tracing is None else self._tracing.begin(invocation)
        return tally, outer, traced, None if self._notes is None else self._notes.begin(invocation)

    def end(self, invocation: Invocation, begun: _Begun, outcome: Outcome) -> None:
        """Finish the telemetry of a call; a replayed answer does not count as a call."""
        tally, outer, traced, noted = begun
        if self._tracing is not None:
            self._tracing.end(invocation, traced, outcome)
        error = invocation.error
        if error is not None and isinstance(error, (AlreadyAnswered, CallRefused)):
            tally.begun -= 1
            if isinstance(error, CallRefused):  # Like a call that the gate refuses.
                tally.refuse(outcome)
                self._lines.log_refusal(invocation.request, outcome)
        else:
            seconds = time.monotonic() - invocation.started
            tally.end(outcome, seconds, invocation.waited)
            if invocation.cost is not None:
                tally.end_cost(invocation.cost)
            self._lines.log_end(invocation, outcome)
            if self._notes is not None:
                self._notes.note(invocation, outcome, seconds, noted)
        # Set rather than reset, which fails when an unfinished call is garbage-collected elsewhere.
        _set_call(outer)

    def headers(self) -> dict[str, str]:
        """Return headers that name the current span for another process; none without tracing."""
        return {} if self._tracing is None else self._tracing.headers()

    async def close(self) -> None:
        """Send the spans that have not been sent yet."""
        if self._tracing is not None:
            await self._tracing.close()

    def refuse(self, request: CallRequest, outcome: Outcome, tool: CompiledTool | None = None) -> None:
        """Count a call that never began; `tool` is None when its caller sees none of that name."""
        self._metrics.tally(UNKNOWN if tool is None else tool.name).refuse(outcome)
        self._lines.log_refusal(request, outcome)
