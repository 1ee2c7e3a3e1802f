"""What the feature telemetry adds to a server, and the types of its settings."""

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import OPERATE
from sidecall.kernel.variables import Texts

# Of settings.
LogFormat = Literal["auto", "json", "text"]
TracingMode = Literal["auto", "on", "off"]

LogLevel = Literal["debug", "info", "warning", "error"]


class LogFields(BaseSettings, defer_build=True):
    """What is logged, in which form, and whether spans are sent."""

    log_level: LogLevel = Field(default="info", description="Least severe log lines to write.")
    log_format: LogFormat = Field(default="auto", description="`json`, `text`, or `auto`: text on a terminal only.")
    log_calls: bool = Field(default=False, description="Whether each call is logged; at level debug it always is.")
    log_requests: bool = Field(
        default=False, description="Whether each request is logged, those that are refused before a call included."
    )
    log_args: bool = Field(
        default=False, description="Whether these lines include arguments and results, with secrets redacted by name."
    )
    log_redact: Texts = Field(
        default=(), description="More names of fields whose values are never logged, separated by commas."
    )
    log_buffer_bytes: int = Field(
        default=8 * 1024 * 1024,
        ge=64 * 1024,
        description="Most bytes of stderr, and as many of stdout, that wait to be read, per worker; more are dropped.",
    )
    otel: TracingMode = Field(
        default="auto", description="`on`, `off`, or `auto`: spans are sent if the variables `OTEL_…` name a collector."
    )


FEATURE = Feature(
    name="telemetry",
    settings_off={"metrics": "off", "otel": "off", "log_calls": False, "log_requests": False},
    serves=lambda settings: settings.metrics != "off",
    routes=(Route("GET", "/metrics", "sidecall.features.telemetry.routes:get_metrics", OPERATE),),
)
