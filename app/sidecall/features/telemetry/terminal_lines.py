"""Format log lines in columns, for people; a traceback follows its line, indented."""

import logging
import os
import sys
import textwrap
import time
from collections.abc import Iterable
from typing import Any, TextIO

from structlog.dev import ConsoleRenderer
from structlog.typing import ExcInfo

from sidecall.features.telemetry.fields import (
    LEFT_OUT,
    MOST_OF_LINE,
    LineFields,
    find_exception,
    is_short,
    write_traceback,
)
from sidecall.features.telemetry.redact import Redaction

# Field names that the renderer would print as lines of their own.
_ON_OWN_LINES = frozenset(("stack", "exception", "exc_info"))
# Characters that would make a name look like several fields.
_AMBIGUOUS = frozenset(" \t='\"")
# Logger names that tell a reader nothing.
_PLAIN = frozenset(("sidecall", "uvicorn.error"))


class TerminalLines(logging.Formatter):
    """Make each record one line, with colors where there are any."""

    def __init__(self, redact: Iterable[str] = ()) -> None:
        super().__init__()
        self._fields = LineFields(Redaction(redact))
        colors = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        self._render = ConsoleRenderer(
            colors=colors, sort_keys=False, exception_formatter=_print_exception, pad_event_to=0
        )

    def format(self, record: logging.LogRecord) -> str:
        """Format a record of any library."""
        line = self._fields.read(record, time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created)))
        if line.get("logger") in _PLAIN:
            del line["logger"]
        shown = {_spell(name): _prepare_value(value) for name, value in line.items()}
        exc_info = find_exception(record)
        if exc_info is not None:
            shown["exc_info"] = exc_info
        return str(self._render(None, record.levelname.lower(), shown))


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
    if name in _ON_OWN_LINES:
        return f"{name}_"
    return repr(name) if _AMBIGUOUS.intersection(name) else _escape(name)


def _escape(text: str) -> str:
    """Write out what would end the line or drive the terminal."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _print_exception(output: TextIO, exc_info: ExcInfo) -> None:
    """Write a traceback, indented, so that no text of an exception can pass for a log line."""
    lines = write_traceback(exc_info).splitlines()
    output.write("\n" + textwrap.indent("\n".join(_escape(line) for line in lines), "    "))
