"""The protocol of tracing, independent of its extra."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.invocation import Invocation


class MissingExtra(SidecallError):
    """Spans need the extra `otel`: pip install 'sidecall[otel]'"""


class Tracing(Protocol):
    """Follow calls with spans."""

    def begin(self, invocation: Invocation) -> Any:
        """Begin a call's span, and name its trace in the invocation; what this returns is handed to `end`."""

    def end(self, invocation: Invocation, begun: Any, outcome: str) -> None:
        """End it."""

    def headers(self) -> dict[str, str]:
        """Name the span that is current, for another process."""

    def within(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Make the spans of a `with` block children of the one that another process has named."""

    @property
    def dropped(self) -> int | None:
        """How many spans were lost; None where this process sends none."""

    async def close(self) -> None:
        """Send the remaining spans."""
