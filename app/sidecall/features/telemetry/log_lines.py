"""The log lines about calls."""

import json
import logging
import time
from collections.abc import Collection, Iterable, Mapping
from types import FunctionType
from typing import Any

from pydantic_core import to_json

from sidecall.features.telemetry.log_writer import LineHandler, LineWriter, find_writer
from sidecall.features.telemetry.redact import (
    MOST_OF_LINE,
    LineFields,
    Redaction,
    Stamps,
    find_exception,
    leave_out_nested,
    write_traceback,
)
from sidecall.kernel.core.context import ANONYMOUS, CallOrigin, cut_id
from sidecall.kernel.core.errors import (
    MissingContext,
)
from sidecall.kernel.core.invocation import CallRequest, Invocation, find_cost
from sidecall.kernel.core.origin import CALL, REQUEST_ID, find_origin, get_origin, name_origin
from sidecall.kernel.pipeline.failure_log import make_call_keys, make_caller_key, make_duration_key

logger = logging.getLogger("sidecall")


class CallLines:
    """Log one line for each ended call: at level info if configured, otherwise at level debug."""

    def __init__(self, *, wanted: bool = False, with_content: bool = False, redaction: Redaction | None = None) -> None:
        self._level = logging.INFO if wanted else logging.DEBUG
        self._level_name = "info" if wanted else "debug"
        self._with_content = with_content
        self._redaction = redaction or Redaction()
        self._straight = FastLogPath(logger, self._level, self._redaction)

    def log_end(self, invocation: Invocation, outcome: str) -> None:
        """Log an ended call, with its arguments and answer if the operator wants that."""
        if not logger.isEnabledFor(self._level):
            return
        writer = self._straight.find()
        if writer is not None and CALL.get() is invocation and invocation.secrets.mask is None:
            writer.write(write_line(self._spell(invocation, outcome)))
            return
        keys = make_call_keys(invocation) | {"event": "tool call", "outcome": outcome, **make_duration_key(invocation)}
        keys |= _make_missing_key(invocation) | _make_cost_key(invocation)
        if self._with_content:
            keys["arguments"] = redact_arguments(invocation, self._redaction)
            keys["result"] = redact_result(invocation, self._redaction)
        logger.log(self._level, "tool %s: %s (call %s)", keys["tool"], outcome, keys["call_id"], extra=keys)

    def _spell(self, invocation: Invocation, outcome: str) -> dict[str, Any]:
        """Return what the formatter would make of a record, in one step."""
        line = self._begin_line(invocation.tool.name, invocation.request.call.id)
        line["invocation_id"] = invocation.id
        line["outcome"] = outcome
        # In whole microseconds, as in answers; round() is slow.
        line["duration_ms"] = int((time.monotonic() - invocation.started) * 1e6 + 0.5) / 1000
        self._add_sender(line, invocation.request, get_origin(invocation))
        line |= _make_missing_key(invocation)
        line |= _make_cost_key(invocation)
        if self._with_content:
            # At their depth in the line.
            hidden, message, redaction = invocation.tool.hidden_names, invocation.message, self._redaction
            line["arguments"] = redaction.redact_fields(_leave_out(hidden, invocation.args), 1)
            line["result"] = None if message is None else redaction.redact(message.content, 1)
        return line

    def _begin_line(self, tool: str, call_id: str) -> dict[str, Any]:
        return {
            "timestamp": self._straight.read_clock(),
            "level": self._level_name,
            "logger": "sidecall",
            "event": "tool call",
            "tool": cut_id(tool),
            "call_id": cut_id(call_id),
        }

    def _add_sender(self, line: dict[str, Any], request: CallRequest, origin: CallOrigin) -> None:
        if origin.trace_id is not None:
            line["trace_id"] = origin.trace_id
        if origin.conversation_id is not None:
            line["conversation_id"] = self._redaction.redact(origin.conversation_id, 1)
        request_id, caller = REQUEST_ID.get() or origin.request_id, request.sender.caller
        if request_id:
            line["request_id"] = request_id
        if caller is not ANONYMOUS:
            line["caller"] = self._redaction.redact(cut_id(caller.subject), 1)

    def log_refusal(self, request: CallRequest, outcome: str) -> None:
        """Log a call that never began, of a tool that may not exist."""
        if not logger.isEnabledFor(self._level):
            return
        writer = self._straight.find()
        if writer is not None and CALL.get() is None:
            line = self._begin_line(request.call.name, request.call.id)
            line["outcome"] = outcome
            self._add_sender(line, request, find_origin(request))
            writer.write(write_line(line))
            return
        tool, call_id = cut_id(request.call.name), cut_id(request.call.id)
        keys = {"event": "tool call", "tool": tool, "call_id": call_id, "outcome": outcome}
        keys |= make_caller_key(request) | name_origin(find_origin(request))
        logger.log(self._level, "tool %s: %s (call %s)", tool, outcome, call_id, extra=keys)


def redact_arguments(invocation: Invocation, redaction: Redaction) -> dict[str, Any]:
    """Copy the model's arguments, without injected ones and secrets."""
    args = _leave_out(invocation.tool.hidden_names, invocation.args)
    return redaction.redact_fields(args if invocation.secrets.mask is None else invocation.secrets.mask.hide(args))


def redact_result(invocation: Invocation, redaction: Redaction) -> Any:
    """Copy the model's answer, without secrets; None when there is none."""
    return None if invocation.message is None else redaction.redact(invocation.message.content)


def _leave_out(hidden: Collection[str], args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arguments without those that no model has any business to send."""
    return {name: value for name, value in args.items() if name not in hidden} if hidden else args


def _make_missing_key(invocation: Invocation) -> dict[str, str]:
    """Name the missing context, if that is why the call did not run."""
    error = invocation.error
    return {"missing": cut_id(error.message)} if isinstance(error, MissingContext) else {}


def _make_cost_key(invocation: Invocation) -> dict[str, float]:
    cost = find_cost(invocation)
    return {} if cost is None else {"cost": cost}


_root = logging.getLogger()
# Methods that programs replace to see or change every record.
_MAKE, _CALL = logging.Logger.makeRecord, logging.Logger.callHandlers
# Unless there was one before.
_ARE_STOCK = all(type(it) is FunctionType and it.__code__.co_filename == logging.__file__ for it in (_MAKE, _CALL))
# Field names of these lines, unless an operator has named one as secret.
_NEVER_SECRET = ("trace_id", "request_id", "conversation_id", "caller", "arguments", "result")


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
