"""Format log lines in columns, for people; a traceback follows its line, indented."""

import logging
import os
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping
from typing import Any

from sidecall.features.telemetry.redact import (
    LEFT_OUT,
    MOST_OF_LINE,
    ExceptionInfo,
    LineFields,
    Redaction,
    find_exception,
    is_short,
    write_traceback,
)

# Names of what only we write; fields of others that have them get another.
_RESERVED = frozenset(("stack", "exception", "exc_info"))
# Signs of a name that would make it look like several fields.
_AMBIGUOUS = frozenset(" \t='\"")
# The longest name of a level that others may have added.
_LEVEL_WIDTH = len("exception")
# Loggers whose names tell a reader nothing.
_PLAIN = frozenset(("sidecall", "uvicorn.error"))

# How terminals are told of colors.
_RESET, _BRIGHT, _DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
_RED, _GREEN, _YELLOW, _BLUE, _MAGENTA, _CYAN = (f"\x1b[{number}m" for number in range(31, 37))
_OF_LEVELS = {
    **dict.fromkeys(("critical", "exception", "error"), _RED + _BRIGHT),
    "warning": _YELLOW + _BRIGHT,
    **dict.fromkeys(("info", "debug"), _GREEN + _BRIGHT),
}


class TerminalLines(logging.Formatter):
    """Make each record one line, with colors where there are any."""

    def __init__(self, redact: Iterable[str] = ()) -> None:
        super().__init__()
        self._fields = LineFields(Redaction(redact))
        self._has_colors = sys.stderr.isatty() and not os.environ.get("NO_COLOR")

    def format(self, record: logging.LogRecord) -> str:
        """Format a record of any library."""
        line = self._fields.read(record, time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created)))
        if line.get("logger") in _PLAIN:
            del line["logger"]
        shown = {_spell(name): _prepare_value(value) for name, value in line.items()}
        exc_info = find_exception(record)
        columns = self._write_columns(shown)
        return columns if exc_info is None else f"{columns}\n{_write_exception(exc_info)}"

    def _write_columns(self, shown: Mapping[str, Any]) -> str:
        """Write when, how grave, what and of whom, and then the other fields."""
        rest = dict(shown)
        level = str(rest.pop("level"))
        columns = [
            self._paint(str(rest.pop("timestamp")), _DIM),
            f"[{self._paint(level.ljust(_LEVEL_WIDTH), _OF_LEVELS.get(level, ''))}]",
            self._paint(str(rest.pop("event")), _BRIGHT),
        ]
        if "logger" in rest:
            columns.append(f"[{self._paint(str(rest.pop('logger')), _BRIGHT + _BLUE)}]")
        fields = (f"{self._paint(name, _CYAN)}={self._paint(_quote(value), _MAGENTA)}" for name, value in rest.items())
        return " ".join(column for column in (*columns, *fields) if column).rstrip(" ")

    def _paint(self, text: str, color: str) -> str:
        return f"{color}{text}{_RESET}" if self._has_colors and text and color else text


def make_terminal_lines(redact: Iterable[str] = ()) -> TerminalLines:
    """Make the formatter of a process, and have its warnings logged from now on."""
    logging.captureWarnings(True)
    return TerminalLines(redact)


def _prepare_value(value: Any) -> Any:
    if isinstance(value, str):
        return _escape(value)
    return value if is_short(value) or len(repr(value)) <= MOST_OF_LINE else LEFT_OUT


def _spell(name: str) -> str:
    """Write the name of a field so that it is one, and no line."""
    if name in _RESERVED:
        return f"{name}_"
    return repr(name) if _AMBIGUOUS.intersection(name) else _escape(name)


def _escape(text: str) -> str:
    """Write out what would end the line or drive the terminal."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _quote(value: Any) -> str:
    """Write a value so that its end is seen."""
    return value if isinstance(value, str) and _AMBIGUOUS.isdisjoint(value) else repr(value)


def _write_exception(exc_info: ExceptionInfo) -> str:
    """Write a traceback, indented, so that nothing that an exception says can pass for a line of its own."""
    lines = write_traceback(exc_info).splitlines()
    return textwrap.indent("\n".join(_escape(line) for line in lines), "    ")
