"""How log lines look: JSON for machines, columns for people; always one line, but for tracebacks on a terminal."""

import json
import logging
import os
import sys
import textwrap
import traceback
from collections.abc import Iterable, MutableMapping
from typing import Any, TextIO

from structlog.dev import ConsoleRenderer
from structlog.processors import ExceptionRenderer, TimeStamper
from structlog.stdlib import ExtraAdder, ProcessorFormatter, add_log_level, add_logger_name
from structlog.typing import ExcInfo

from sidecall.core.context import cut_id
from sidecall.telemetry.current import get_mask, get_request_keys
from sidecall.telemetry.modes import LogFormat
from sidecall.telemetry.redact import Redaction
from sidecall.telemetry.text import join_traceback, shorten

_Line = MutableMapping[str, Any]

_FIRST = ("timestamp", "level", "logger", "event", "tool", "call_id", "invocation_id", "outcome", "duration_ms")
# What is no field that somebody else might fill with a secret.
_OWN = frozenset((*_FIRST, "exc_info", "stack_info", "_record", "_from_structlog"))
# What is made into text later, or is no part of the line.
_NOT_SHOWN = frozenset(("exc_info", "stack_info", "_record", "_from_structlog"))
# What uvicorn says to its own formatter, and what other formatters leave on a record.
_OF_OTHERS = ("color_message", "message", "asctime")
# Fields that name something, which is never secret but may be long.
_NAMES = ("logger", "tool", "call_id", "invocation_id", "outcome")
_LONG = 256
# Fields of others that the renderer for terminals would begin a line of their own with.
_ON_OWN_LINES = frozenset(("stack", "exception"))
# Signs of a name that would make it look like several fields.
_AMBIGUOUS = frozenset(" \t='\"")
# Characters of a message, and of a whole line beside its traceback; many of those who collect logs take no longer ones.
_MOST_OF_EVENT = 16 * 1024
_MOST_OF_LINE = 256 * 1024
# Loggers whose names tell a reader nothing.
_PLAIN = frozenset(("sidecall", "uvicorn.error"))


# Made once: json.dumps makes an encoder for every line.
_to_json = json.JSONEncoder(default=repr).encode
_LEFT_OUT = "left out, since the line would be too long"
# They warn of malformed headers, with which any client could fill the log.
_TALKATIVE = ("opentelemetry.baggage.propagation", "opentelemetry.trace.span", "python_multipart")


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
        "handlers": {"stderr": {"class": "sidecall.telemetry.standard_streams.LineHandler", "formatter": "sidecall"}},
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
        [ExceptionRenderer(_write_traceback), _render_json] if as_json else [_prepare_for_terminal, _make_console()]
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


def _hide(text: str) -> str:
    mask = get_mask()
    return text if mask is None else mask.hide_in_text(text)


class _Clean:
    """Keep secrets and oddities out of a line's fields."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    def __call__(self, _logger: Any, _level: str, line: _Line) -> _Line:
        for name in _OF_OTHERS:
            line.pop(name, None)
        # ToolContext.log says it again, for formatters that show no fields.
        mask = get_mask()
        prefix = f"[{line.get('tool')} {line.get('call_id')}] "
        line["event"] = shorten(_hide(str(line["event"])).removeprefix(prefix).rstrip(), _MOST_OF_EVENT)
        for name in _NAMES:
            value = line.get(name)
            if isinstance(value, str) and len(value) > _LONG:
                line[name] = cut_id(value)
        others = {name: line.pop(name) for name in list(line) if name not in _OWN}
        if mask is not None:
            others = mask.hide(others)
        if others:
            line.update(self._redaction.redact_fields(others))
        if mask is not None:  # Also in what was no text before.
            line.update({name: mask.hide(value) for name, value in line.items() if name not in _NOT_SHOWN})
        return line


def _write_traceback(exc_info: ExcInfo) -> str:
    return join_traceback(map(_hide, traceback.format_exception(*exc_info))).rstrip("\n")


def _render_json(_logger: Any, _level: str, line: _Line) -> str:
    text = _to_json(line)
    if len(text) <= _MOST_OF_LINE:
        return text
    kept = {name: value if _is_plain(value) else _LEFT_OUT for name, value in line.items()}
    return _to_json(kept)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _order_fields(_logger: Any, _level: str, line: _Line) -> _Line:
    return {name: line.pop(name) for name in _FIRST if name in line} | dict(line)


def _prepare_for_terminal(_logger: Any, _level: str, line: _Line) -> _Line:
    if line.get("logger") in _PLAIN:
        del line["logger"]
    return {_spell(name): _prepare_value(value) for name, value in line.items()}


def _prepare_value(value: Any) -> Any:
    if isinstance(value, str):
        return _escape(value)
    return value if _is_plain(value) or len(repr(value)) <= _MOST_OF_LINE else _LEFT_OUT


def _spell(name: str) -> str:
    """Write the name of a field so that it is one, and no line."""
    if name in _ON_OWN_LINES:
        return f"{name}_"
    return repr(name) if _AMBIGUOUS.intersection(name) else _escape(name)


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
