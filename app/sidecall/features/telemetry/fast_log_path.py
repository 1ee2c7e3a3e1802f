"""The fast path of lines about calls: from their fields to the writer of stderr, without `logging` records."""

import logging
import time
from types import FunctionType
from typing import Any

from sidecall.features.telemetry.fields import Stamps
from sidecall.features.telemetry.json_lines import JsonLines
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.standard_streams import LineHandler, find_writer
from sidecall.features.telemetry.writer import LineWriter

_root = logging.getLogger()
# Methods that programs replace to see or change every record.
_MAKE, _CALL = logging.Logger.makeRecord, logging.Logger.callHandlers
# Unless there was one before.
_ARE_STOCK = all(type(it) is FunctionType and it.__code__.co_filename == logging.__file__ for it in (_MAKE, _CALL))
# Field names of these lines, unless an operator has named one as secret.
_NEVER_SECRET = ("trace_id", "request_id", "caller", "arguments", "result")


class FastLogPath:
    """Whether lines of a logger and level would become our own JSON on stderr, and nothing else."""

    def __init__(self, logger: logging.Logger, level: int, redaction: Redaction) -> None:
        self._logger = logger
        self._level = level
        self._redaction = redaction
        self._may_be_straight = _ARE_STOCK and not any(map(redaction.is_secret, _NEVER_SECRET))
        self._stamps = Stamps()
        # The last handler, its parts, and its writer if it qualifies for the fast path.
        self._seen: tuple[Any, Any, Any] = (None, None, None)
        self._writer: LineWriter | None = None

    def read_clock(self) -> str:
        """Return the present time, as lines have it."""
        return self._stamps.write(time.time())

    def find(self) -> LineWriter | None:
        """Return the writer of lines to stderr; None where other filters, handlers or formatters take part."""
        logger, handlers = self._logger, _root.handlers
        if len(handlers) != 1 or logger.handlers or logger.filters or not logger.propagate:
            return None
        handler: Any = handlers[0]
        known, form, stream = self._seen
        if handler is not known or handler.formatter is not form or getattr(handler, "stream", None) is not stream:
            self._look_at(handler)
        if handler.filters or handler.level > self._level or logging.getLogRecordFactory() is not logging.LogRecord:
            return None
        usual = logging.Logger
        return self._writer if usual.makeRecord is _MAKE and usual.callHandlers is _CALL else None

    def _look_at(self, handler: logging.Handler) -> None:
        form, stream = handler.formatter, getattr(handler, "stream", None)
        is_ours = type(handler) is LineHandler and type(form) is JsonLines and form.redaction == self._redaction
        self._writer = find_writer(stream) if is_ours and self._may_be_straight else None
        self._seen = (handler, form, stream)
