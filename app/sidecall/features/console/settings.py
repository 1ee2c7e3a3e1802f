"""Settings of the console, and whether a server with them has one."""

from ipaddress import ip_address
from typing import Any, Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

ConsoleMode = Literal["auto", "on", "off"]
_TRACE = "{trace_id}"


class ConsoleSettings(BaseSettings, defer_build=True):
    """Whether pages for people are served, and where they lead."""

    console: ConsoleMode = Field(
        default="auto",
        description="Whether pages for people are served at `/console`: `auto` serves them where callers authenticate, "
        "or only this machine reaches the server.",
    )
    trace_url: str | None = Field(
        default=None,
        description="Where the trace of a call is shown, as `https://traces.example.com/trace/{trace_id}`; the "
        "console links it.",
    )

    @field_validator("trace_url")
    @classmethod
    def _names_trace(cls, address: str | None) -> str | None:
        if address is not None and not (address.startswith(("https://", "http://")) and _TRACE in address):
            raise ValueError("write an address with https:// or http:// that has {trace_id} in it")
        return address


def has_console(settings: Any) -> bool:
    """Return whether a server with these settings has a console."""
    if settings.console == "auto":
        return settings.auth != ("none",) or settings.unix is not None or _is_loopback(settings.host)
    return bool(settings.console == "on")


def has_sessions(settings: Any) -> bool:
    """Return whether people log in to the console of such a server, since callers have keys or tokens."""
    return has_console(settings) and not {"api_key", "jwt"}.isdisjoint(settings.auth)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
