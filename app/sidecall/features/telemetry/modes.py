"""Settings of log lines and spans."""

from typing import Literal

LogFormat = Literal["auto", "json", "text"]
TracingMode = Literal["auto", "on", "off"]
