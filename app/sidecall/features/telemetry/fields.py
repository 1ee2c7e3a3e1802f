"""The fields of a log line, in order, without secrets and unusual characters."""

import logging
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.core.context import cut_id
from sidecall.kernel.core.current import get_mask, get_request_keys
from sidecall.kernel.core.log_text import format_error, join_traceback, shorten

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None]

# Maximum characters of a message, and of a whole line without its traceback; many log collectors take no longer ones.
_MOST_OF_EVENT = 16 * 1024
MOST_OF_LINE = 256 * 1024
LEFT_OUT = "left out, since the line would be too long"

_FIRST = ("timestamp", "level", "logger", "event", "tool", "call_id", "invocation_id", "outcome", "duration_ms")
# Attributes of a record that are no fields, which could hold a secret.
_OWN = frozenset((*_FIRST, "stack_info"))
# Attributes of every record; all others are fields.
_OF_RECORDS = frozenset(vars(logging.makeLogRecord({})))
# Attributes for uvicorn's own formatter, those that other formatters leave on a record, and structlog's.
_OF_OTHERS = frozenset(("color_message", "message", "asctime", "_logger", "_name"))
# Fields with names, which are never secret but may be long.
_NAMES = ("logger", "tool", "call_id", "invocation_id", "outcome")
_LONG = 256


class LineFields:
    """Read the fields of a record from any library."""

    def __init__(self, redaction: Redaction) -> None:
        self.redaction = redaction

    def read(self, record: logging.LogRecord, timestamp: str) -> dict[str, Any]:
        """Return the fields of a line, but for the traceback."""
        line: dict[str, Any] = {"timestamp": timestamp, "level": record.levelname.lower(), "logger": record.name}
        line["event"] = "" if isinstance(record.msg, dict) else record.getMessage()
        if record.stack_info:
            line["stack_info"] = record.stack_info
        line.update(get_request_keys())
        if isinstance(record.msg, dict):  # structlog passes a line as a dictionary.
            line.update({str(name): value for name, value in record.msg.items()})
        line.update(item for item in vars(record).items() if item[0] not in _OF_RECORDS)
        self._clean(line)
        return {name: line.pop(name) for name in _FIRST if name in line} | line

    def _clean(self, line: dict[str, Any]) -> None:
        mask = get_mask()
        # ToolContext.log repeats it, for formatters that show no fields.
        prefix = f"[{line.get('tool')} {line.get('call_id')}] "
        line["event"] = shorten(hide_secrets(str(line["event"])).removeprefix(prefix).rstrip(), _MOST_OF_EVENT)
        for name in _NAMES:
            value = line.get(name)
            if isinstance(value, str) and len(value) > _LONG:
                line[name] = cut_id(value)
        others = {name: line.pop(name) for name in list(line) if name not in _OWN}
        others = {name: value for name, value in others.items() if name not in _OF_OTHERS}
        line.update(self.redaction.redact_fields(others if mask is None else mask.hide(others)))
        if mask is not None:  # Also in values that were no texts before.
            line.update({name: mask.hide(value) for name, value in line.items()})


class Stamps:
    """Format times as ISO 8601; the common part of a second is formatted once."""

    def __init__(self) -> None:
        self._known = (-1, "")

    def write(self, moment: float) -> str:
        """Write one, in UTC."""
        known, text = self._known
        second = int(moment)
        if second != known:
            text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._known = (second, text)
        return f"{text}.{int((moment - second) * 1_000_000):06}Z"


def find_exception(record: logging.LogRecord) -> ExceptionInfo | None:
    """Return the exception of a record, if it has one."""
    found = record.exc_info
    return found if found and found[0] is not None and found[1] is not None else None


def write_traceback(exc_info: ExceptionInfo) -> str:
    """Write a traceback without secrets, each part of it shortened."""
    return join_traceback(map(hide_secrets, format_error(*exc_info[1:], hide_secrets))).rstrip("\n")


def hide_secrets(text: str) -> str:
    """Return a text without the secrets of the call that this code works for."""
    mask = get_mask()
    return text if mask is None else mask.hide_in_text(text)


def is_short(value: Any) -> bool:
    """Return whether a field's value holds no others."""
    return value is None or isinstance(value, (str, int, float))


def leave_out_nested(line: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the plain fields of a line that is too long."""
    return {name: value if is_short(value) else LEFT_OUT for name, value in line.items()}
