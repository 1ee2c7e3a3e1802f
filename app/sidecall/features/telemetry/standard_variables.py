"""The standard variables `OTEL_…`, for which wrong values make the SDK fail, or silently lose every span."""

import logging
import os
import ssl
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from sidecall.kernel.core.errors import SidecallError

logger = logging.getLogger("sidecall")

# More is a mistake, and too much for a clock.
_MOST = 2**31 - 1
# The SDK treats an empty one as not set.
_LIMITS = (
    "OTEL_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_SPAN_EVENT_COUNT_LIMIT",
    "OTEL_SPAN_LINK_COUNT_LIMIT",
)
_OF_TRACES, _OF_ALL = "OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"


class MissingExtra(SidecallError):
    """Spans need the extra `otel`: pip install 'sidecall[otel]'"""


class InvalidVariable(SidecallError):
    """A standard variable `OTEL_…` has a wrong value."""


def read_batching() -> dict[str, Any]:
    """Read the batching of spans, as arguments of the SDK's processor.

    If only the queue size is set, batches are no larger than it.

    Raises:
        InvalidVariable: A value is wrong, or they contradict each other.
    """
    queue = _read("OTEL_BSP_MAX_QUEUE_SIZE", 2048)
    batch = _read("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", min(512, queue))
    if batch > queue:
        raise InvalidVariable(
            f"OTEL_BSP_MAX_EXPORT_BATCH_SIZE is {batch}, more than the {queue} spans that may wait: write "
            f"no more than that, or a larger OTEL_BSP_MAX_QUEUE_SIZE"
        )
    return {
        "max_queue_size": queue,
        "schedule_delay_millis": _read("OTEL_BSP_SCHEDULE_DELAY", 5000),
        "max_export_batch_size": batch,
        "export_timeout_millis": _read("OTEL_BSP_EXPORT_TIMEOUT", 30_000, least=0),
    }


def check_limits() -> None:
    """Refuse span limits that are not numbers, before the SDK is loaded and reads them.

    Raises:
        InvalidVariable: One is not a number.
    """
    for name in _LIMITS:
        _read(name, 0, least=0)


def _read(name: str, default: int, least: int = 1) -> int:
    text = os.environ.get(name)
    if not text:
        return default
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not least <= number <= _MOST:
        raise InvalidVariable(f"{name} is {text!r}: write a whole number from {least} to {_MOST}")
    return number


def report_losses() -> None:
    """Log why every span will be lost, if the variables of OTLP over HTTP cause that; the exporter reports it late."""
    for ending, find_fault in _FAULTS.items():
        name = next(filter(os.environ.get, (_OF_TRACES + ending, _OF_ALL + ending)), None)
        fault = None if name is None else find_fault(os.environ[name])
        if fault is not None:
            logger.error("%s %s", name, fault)


def _check_endpoint(text: str) -> str | None:
    try:
        url = urlsplit(text)
        is_url = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # Invalid brackets, or an invalid port.
        is_url = False
    is_url = is_url and not any(map(str.isspace, text.strip()))
    return None if is_url else "is no URL, so no span is sent: write one such as http://127.0.0.1:4318"


def _check_timeout(text: str) -> str | None:
    try:
        is_time = 0 < float(text) <= threading.TIMEOUT_MAX
    except ValueError:
        return None  # The exporter then uses ten seconds.
    return None if is_time else f"is {text}, so no span is sent: write the seconds of a request, such as 10"


def _check_authorities(path: str) -> str | None:
    try:
        place = {"capath": path} if os.path.isdir(path) else {"cafile": path}
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(**place)
    except (OSError, ValueError):  # Errors of TLS are among the first.
        return "names no certificates that can be read, so no span is sent over https: write the path of a file (PEM)"
    return None


def _check_file(path: str) -> str | None:
    if os.path.isfile(path) and os.access(path, os.R_OK):
        return None
    return "names no file that can be read, so no span is sent: write the path of one (PEM)"


_FAULTS: dict[str, Callable[[str], str | None]] = {
    "ENDPOINT": _check_endpoint,
    "TIMEOUT": _check_timeout,
    "CERTIFICATE": _check_authorities,
    "CLIENT_CERTIFICATE": _check_file,
    "CLIENT_KEY": _check_file,
}
