"""What an operator may choose about log lines and spans."""

from typing import Literal

LogFormat = Literal["auto", "json", "text"]
TracingMode = Literal["auto", "on", "off"]
