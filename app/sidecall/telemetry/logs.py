"""How log lines look: JSON for machines, columns for people; always one line, but for tracebacks on a terminal."""

import logging
import os
import sys
import textwrap
import traceback
from collections.abc import Iterable, MutableMapping
from typing import Any, TextIO

from structlog.dev import ConsoleRenderer
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper
from structlog.stdlib import ExtraAdder, ProcessorFormatter, add_log_level, add_logger_name
from structlog.typing import ExcInfo

from sidecall.telemetry.current import get_request_keys
from sidecall.telemetry.modes import LogFormat
from sidecall.telemetry.redact import Redaction
from sidecall.telemetry.text import join_traceback

_Line = MutableMapping[str, Any]

_FIRST = ("timestamp", "level", "logger", "event", "tool", "call_id", "invocation_id", "outcome", "duration_ms")
# What is no field that somebody else might fill with a secret.
_OWN = frozenset((*_FIRST, "exc_info", "stack_info", "_record", "_from_structlog"))
# What uvicorn says to its own formatter, and what other formatters leave on a record.
_OF_OTHERS = ("color_message", "message", "asctime")
# Loggers whose names tell a reader nothing.
_PLAIN = frozenset(("sidecall", "uvicorn.error"))


# They warn of malformed headers, with which any client could fill the log.
_TALKATIVE = ("opentelemetry.baggage.propagation", "opentelemetry.trace.span")


def make_log_config(level: str, form: LogFormat, redact: Iterable[str] = ()) -> dict[str, Any]:
    """Configure `logging` for a server: our lines, uvicorn's, those of libraries, and warnings.

    It is made of plain values only, since uvicorn hands it to worker processes.
    """
    ours = {"level": level.upper()}
    formatter = {"()": "sidecall.telemetry.logs.make_formatter", "as_json": is_json(form), "redact": list(redact)}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"sidecall": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "sidecall"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {"sidecall": ours, "uvicorn": ours, **{name: {"level": "ERROR"} for name in _TALKATIVE}},
    }


def is_json(form: LogFormat) -> bool:
    """Choose JSON unless a person reads along."""
    return form == "json" or (form == "auto" and not sys.stderr.isatty())


def make_formatter(*, as_json: bool, redact: Iterable[str] = ()) -> logging.Formatter:
    """Make the formatter of a process, and have its warnings logged from now on."""
    logging.captureWarnings(True)
    rendered: list[Any] = (
        [ExceptionRenderer(_write_traceback), JSONRenderer()] if as_json else [_prepare_for_terminal, _make_console()]
    )
    return ProcessorFormatter(
        foreign_pre_chain=[
            TimeStamper(fmt="iso") if as_json else TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False),
            add_log_level,
            add_logger_name,
            _add_request,
            ExtraAdder(),
            _Clean(Redaction(redact)),
        ],
        processors=[ProcessorFormatter.remove_processors_meta, _order_fields, *rendered],
    )


def _add_request(_logger: Any, _level: str, line: _Line) -> _Line:
    line.update(get_request_keys())
    return line


class _Clean:
    """Keep secrets and oddities out of a line's fields."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    def __call__(self, _logger: Any, _level: str, line: _Line) -> _Line:
        for name in _OF_OTHERS:
            line.pop(name, None)
        # ToolContext.log says it again, for formatters that show no fields.
        prefix = f"[{line.get('tool')} {line.get('call_id')}] "
        line["event"] = str(line["event"]).removeprefix(prefix).rstrip()
        others = {name: value for name, value in line.items() if name not in _OWN}
        line.update(self._redaction.redact_fields(others))
        return line


def _write_traceback(exc_info: ExcInfo) -> str:
    return join_traceback(traceback.format_exception(*exc_info)).rstrip("\n")


def _order_fields(_logger: Any, _level: str, line: _Line) -> _Line:
    return {name: line.pop(name) for name in _FIRST if name in line} | dict(line)


def _prepare_for_terminal(_logger: Any, _level: str, line: _Line) -> _Line:
    if line.get("logger") in _PLAIN:
        del line["logger"]
    for name, value in line.items():
        if isinstance(value, str):
            line[name] = _escape(value)
    return line


def _escape(text: str) -> str:
    """Write out what would end the line or drive the terminal."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _make_console() -> ConsoleRenderer:
    colors = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return ConsoleRenderer(colors=colors, sort_keys=False, exception_formatter=_print_exception, pad_event_to=0)


def _print_exception(output: TextIO, exc_info: ExcInfo) -> None:
    """Write a traceback, indented, so that nothing that an exception says can pass for a line of its own."""
    lines = _write_traceback(exc_info).splitlines()
    output.write("\n" + textwrap.indent("\n".join(_escape(line) for line in lines), "    "))
