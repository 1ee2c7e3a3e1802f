"""Write log lines as JSON, for machines."""

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import to_json

from sidecall.features.telemetry.fields import (
    MOST_OF_LINE,
    LineFields,
    Stamps,
    find_exception,
    leave_out_nested,
    write_traceback,
)
from sidecall.features.telemetry.redact import Redaction

# Made once: json.dumps makes an encoder for every line. It writes what `to_json` refuses, such as lone surrogates.
_to_json_text = json.JSONEncoder(default=repr, separators=(",", ":")).encode


class JsonLines(logging.Formatter):
    """Make each record one JSON object on one line."""

    def __init__(self, redact: Iterable[str] = ()) -> None:
        super().__init__()
        self.redaction = Redaction(redact)
        self.stamps = Stamps()
        self._fields = LineFields(self.redaction)

    def format(self, record: logging.LogRecord) -> str:
        """Format a record of any library."""
        line = self._fields.read(record, self.stamps.write(record.created))
        exc_info = find_exception(record)
        if exc_info is not None:
            line["exception"] = write_traceback(exc_info)
        return write_line(line)[:-1].decode()


def make_json_lines(redact: Iterable[str] = ()) -> JsonLines:
    """Make the formatter of a process, and have its warnings logged from now on."""
    logging.captureWarnings(True)
    return JsonLines(redact)


def write_line(line: Mapping[str, Any]) -> bytes:
    """Write fields as a line of ASCII JSON; if it is too long, without nested fields."""
    written = _write(line)
    return written if len(written) <= MOST_OF_LINE else _write(leave_out_nested(line))


def _write(line: Mapping[str, Any]) -> bytes:
    try:
        written = to_json(line, fallback=repr)
        # Few lines have other characters, and asking for ASCII takes as long as all the rest.
        return (written if written.isascii() else to_json(line, ensure_ascii=True, fallback=repr)) + b"\n"
    except ValueError:
        return _to_json_text(line).encode() + b"\n"
