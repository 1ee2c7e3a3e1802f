"""Keep secrets, odd characters and large values out of logs."""

import json
import logging
import math
import re
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any

from sidecall.kernel.core.context import cut_id
from sidecall.kernel.core.log_text import format_error, join_traceback, shorten
from sidecall.kernel.core.origin import get_mask, get_request_keys

REDACTED = "[redacted]"

_SECRET = (
    "password passwd pwd passphrase passcode secret token api_key apikey access_key private_key signing_key "
    "authorization auth credential credentials cookie set_cookie jwt bearer otp cvv cvc ssn"
).split()
# Words that mark a secret anywhere in a name.
_EVEN_WITHIN = "password passwd passphrase passcode apikey credential".split()
# Names that count tokens of a model.
_COUNT = re.compile(r"(?:max|min|total|prompt|completion|input|output|cached|reasoning|used|num|n)_(?:\w+_)?tokens")
# Where a name in camel case has a seam: `userName`, `JWTToken`.
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^a-zA-Z0-9]+")
# Members that name the content of the member `value` next to them.
_NAMING = ("name", "key", "header")

_MOST_CHARACTERS = 1000
# Names of fields that are remembered, and characters of those that are not too long for that.
_MOST_NAMES = 4096

_MOST_OF_NAME = 64

_MOST_ITEMS = 50

_DEEPEST = 8

_LARGEST = 2**63

_MOST_PARSED = 100_000


class Redaction:
    """Recognize fields with secrets by their names: `api_key`, `X-Api-Key`, `userPassword`."""

    def __init__(self, more: Iterable[str] = (), longest: int = _MOST_CHARACTERS) -> None:
        """Know the usual names and some more; texts are shown up to `longest` characters."""
        self.longest = longest
        self.most_items = _MOST_ITEMS
        self._more = frozenset(more)
        self._remember = lru_cache(_MOST_NAMES)(self._is_name_secret)
        names = [name for name in map(_normalize, (*_SECRET, *self._more)) if name]
        words = "|".join(map(re.escape, names))
        spelled = [name.split("_") for name in names]
        self._single = _drop_longer([*_EVEN_WITHIN, *(parts[0] for parts in spelled if len(parts) == 1)])
        self._composed = [
            parts for parts in spelled if not any(word in part for part in parts for word in self._single)
        ]
        self._secret = re.compile(rf"(?:^|_)(?:{words})(?:_|s?\d*$)|{'|'.join(_EVEN_WITHIN)}")

    def is_secret(self, name: str) -> bool:
        """Return whether a field of this name holds a secret."""
        return self._remember(name) if len(name) <= _MOST_OF_NAME else self._is_name_secret(name)

    def _is_name_secret(self, name: str) -> bool:
        spelled = _normalize(name[:_MOST_CHARACTERS])
        return self._secret.search(spelled) is not None and _COUNT.fullmatch(spelled) is None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Redaction) and (self._more, self.longest) == (other._more, other.longest)

    def __hash__(self) -> int:
        return hash((self._more, self.longest))

    def has_to_do_with_secrets(self, name: str) -> bool:
        """Return whether a field of this name holds a secret, or may name one."""
        return name in _NAMING or self.is_secret(name)

    def finds_trace(self, text: str) -> bool:
        """Return whether a JSON text may name a secret; where it does not, there is nothing to be taken out of it."""
        low = text.lower()
        for word in self._single:  # A generator would cost more than what it looks for.
            if word in low:
                return True
        return any(all(part in low for part in parts) for parts in self._composed)

    def redact_fields(self, values: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
        """Copy named values, without secrets."""
        shown: dict[str, Any] = {}
        hides_value = "value" in values and any(
            self.is_secret(str(values[key])) for key in _NAMING if isinstance(values.get(key), str)
        )
        items = list(values.items())
        for key, value in items if len(items) <= _MOST_ITEMS else items[:_MOST_ITEMS]:
            name = str(key)
            is_hidden = self.is_secret(name) or (hides_value and name == "value")
            spelled = name if len(name) <= self.longest else self._shorten(name)
            shown[spelled] = REDACTED if is_hidden else self.redact(value, depth + 1)
        if len(values) > _MOST_ITEMS:
            shown["…"] = f"{len(values) - _MOST_ITEMS} more"
        return shown

    def redact(self, value: Any, depth: int = 0) -> Any:
        """Copy a value in JSON types; long and deep parts are cut."""
        if isinstance(value, str):
            # Most texts are short, and begin as no JSON does.
            is_simple = len(value) <= self.longest and value[:1].isalnum()
            return value if is_simple else self._redact_text(value, depth)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            return _limit_number(value)
        if depth >= _DEEPEST:
            return "…"
        if isinstance(value, Mapping):
            return self.redact_fields(value, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            shown = [self.redact(item, depth + 1) for item in list(value)[:_MOST_ITEMS]]
            return shown if len(value) <= _MOST_ITEMS else [*shown, f"… {len(value) - _MOST_ITEMS} more"]
        return self._write(value)

    def _redact_text(self, text: str, depth: int) -> Any:
        """Redact a text; one that is JSON is parsed, since field names mark secrets."""
        if not text[:_MOST_CHARACTERS].lstrip().startswith(("{", "[")):
            return self._shorten(text)
        try:
            return self.redact(json.loads(text[:_MOST_PARSED]), depth + 1)
        except (ValueError, RecursionError):
            return f"a text of {len(text)} characters"

    def _shorten(self, text: str) -> str:
        rest = len(text) - self.longest
        return text if rest <= 0 else f"{text[: self.longest]}… {rest} more characters"

    def _write(self, value: object) -> str:
        try:
            return self._shorten(str(value))
        except Exception:
            return f"a {type(value).__name__} that cannot be written"


def _drop_longer(words: Iterable[str]) -> list[str]:
    """Drop the words that contain another one."""
    kept: list[str] = []
    for word in sorted(words, key=len):
        if not any(one in word for one in kept):
            kept.append(word)
    return kept


def _normalize(name: str) -> str:
    return _SEAM.sub("_", name).lower().strip("_")


def _limit_number(number: Any) -> Any:
    if isinstance(number, float):
        return number if math.isfinite(number) else str(number)
    return number if -_LARGEST <= number < _LARGEST else f"a number of {number.bit_length()} bits"


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
