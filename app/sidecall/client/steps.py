"""Requests as steps without I/O, shared by the sync and async clients."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Sending:
    """Send a request; the result is an `httpx.Response`, or with `is_stream` an open stream.

    `is_safe` means that it may be sent twice: it changes nothing, or has an idempotency key. The server may take
    `patience` seconds for its answer; `limit` is the total in seconds.
    """

    method: str
    path: str
    params: list[tuple[str, str]] = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    is_safe: bool = False
    is_stream: bool = False
    patience: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Pausing:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Asking:
    """Call a function of the program; the result is what it returns."""

    question: Callable[[Any], Any]
    about: Any


@dataclass(frozen=True)
class Taking:
    """Read the next line of an open stream; None at its end."""

    stream: Any


@dataclass(frozen=True)
class Giving:
    """Yield a value to the program."""

    event: Any


Steps = Generator[Any, Any, T]


class Walk(Generic[T]):
    """The progress of steps: `step` is to be done next, until `has_ended`."""

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self.has_ended = False
        self.step: Any = None
        self._result: list[T] = []
        self.go_on()

    @property
    def result(self) -> T:
        """The result of all steps."""
        return self._result[0]

    def go_on(self, done: Any = None) -> None:
        """Pass in the result of the step, and advance to the next one."""
        try:
            self.step = self._steps.send(done)
        except StopIteration as end:
            self.has_ended = True
            self._result = [end.value]

    def fail(self, error: Exception) -> None:
        """Pass in the failure of the step, and advance to the next one, if there is one."""
        try:
            self.step = self._steps.throw(error)
        except StopIteration as end:
            self.has_ended = True
            self._result = [end.value]
