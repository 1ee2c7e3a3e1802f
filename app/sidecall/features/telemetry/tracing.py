"""Find out whether spans are wanted, and load what makes them only then; each process of tools asks."""

import importlib
import logging
import os
from typing import TYPE_CHECKING, Any

from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.standard_variables import MissingExtra, check_limits

if TYPE_CHECKING:
    from sidecall.features.telemetry import calls as _calls
    from sidecall.features.telemetry import feature as _feature

logger = logging.getLogger("sidecall")

# Variables that name a destination of spans.
_ASKING = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")
# The conventions' own variable for arguments and results, and its values that include spans.
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURING = frozenset(("true", "span_only", "span_and_event"))


def open_tracing(switch: "_feature.TracingMode", redaction: Redaction) -> "_calls.Tracing | None":
    """Trace calls if configured; `auto`: if the environment names a destination.

    Raises:
        MissingExtra: Tracing is on, but the extra is not installed.
        InvalidVariable: A standard variable is wrong.
    """
    if switch == "off" or (switch == "auto" and not _is_asked_for()):
        return None
    check_limits()  # The SDK reads them when it is loaded.
    try:
        # By name: it needs the extra, and is a layer above this module.
        export: Any = importlib.import_module("sidecall.features.telemetry.export")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("opentelemetry"):
            raise
        if switch == "on":
            raise MissingExtra from None
        logger.warning("the environment asks for spans, but the extra `otel` is not installed")
        return None
    captures = os.environ.get(_CAPTURE, "").lower() in _CAPTURING
    spans: _calls.Tracing = export.open_spans(redaction if captures else None)
    return spans


def open_in_process() -> "_calls.Tracing | None":
    """Trace what a tool does in its process, if the environment names a destination."""
    return open_tracing("auto", Redaction()) if _is_asked_for() else None


def _is_asked_for() -> bool:
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    asking = [os.environ.get(name, "") for name in _ASKING]
    return not is_off and any(asking) and os.environ.get("OTEL_TRACES_EXPORTER") != "none"
