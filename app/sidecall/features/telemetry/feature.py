"""What the feature telemetry adds to a server, and the types of its settings."""

from typing import Literal

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import OPERATE

# Of settings.
LogFormat = Literal["auto", "json", "text"]
TracingMode = Literal["auto", "on", "off"]

FEATURE = Feature(
    name="telemetry",
    settings_off={"metrics": "off", "otel": "off", "log_calls": False, "log_requests": False},
    serves=lambda settings: settings.metrics != "off",
    routes=(Route("GET", "/metrics", "sidecall.features.telemetry.routes:get_metrics", OPERATE),),
)
