"""The form of log lines: JSON for machines, columns for people; always one line, except tracebacks on a terminal."""

import sys
from collections.abc import Iterable
from typing import Any

from sidecall.features.telemetry.modes import LogFormat

# By name, so that a server that writes JSON does not load the column formatter.
_JSON = "sidecall.features.telemetry.json_lines.make_json_lines"
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
            "stderr": {"class": "sidecall.features.telemetry.standard_streams.LineHandler", "formatter": "sidecall"}
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {"sidecall": ours, "uvicorn": ours, **{name: {"level": "ERROR"} for name in _TALKATIVE}},
    }


def is_json(form: LogFormat) -> bool:
    """Choose JSON, unless the output is a terminal."""
    return form == "json" or (form == "auto" and not sys.stderr.isatty())
