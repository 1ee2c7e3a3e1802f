"""What follows calls with spans, as those see it who must not need the extra that makes them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from sidecall.core.errors import SidecallError
from sidecall.telemetry.current import ObservedCall


class MissingExtra(SidecallError):
    """Spans need the extra `otel`: pip install 'sidecall[otel]'"""


class Tracing(Protocol):
    """Follow calls with spans."""

    def begin(self, call: ObservedCall) -> None:
        """Begin a call's span."""

    def end(self, call: ObservedCall, outcome: str) -> None:
        """End it."""

    def headers(self) -> dict[str, str]:
        """Name the span that is current, for another process."""

    def within(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Make the spans of a `with` block children of the one that another process has named."""

    @property
    def dropped(self) -> int | None:
        """How many spans were lost on their way; None where others send them."""

    async def close(self) -> None:
        """Send what has not been sent yet."""
