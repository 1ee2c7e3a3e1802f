"""Retry policy of a tool."""

from dataclasses import dataclass

from sidecall.kernel.core.errors import InvalidToolOption, ToolException


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Try a tool again when it fails, for tools that do no harm when they run twice.

    Attributes:
        attempts: How often it is run at most, the first time included.
        wait: Seconds before the second attempt; doubled each time, plus up to `wait` at random.
        max_wait: Most seconds between two attempts.
        on: The exceptions that are worth another attempt; a ToolException counts when it is retryable.
    """

    attempts: int = 3
    wait: float = 0.5
    max_wait: float = 30.0
    on: tuple[type[Exception], ...] = (Exception,)

    def __post_init__(self) -> None:
        is_said = type(self.attempts) is int and all(_is_number(it) for it in (self.wait, self.max_wait))
        # NaN is neither smaller nor larger than anything.
        if not is_said or self.attempts < 2 or not 0 <= self.wait <= self.max_wait:
            raise InvalidToolOption("a Retry has at least 2 attempts, and 0 <= wait <= max_wait")
        if not isinstance(self.on, tuple) or not self.on or not all(map(_is_exception, self.on)):
            raise InvalidToolOption("the `on` of a Retry is a tuple of exception types")

    def covers(self, error: BaseException) -> bool:
        """Return whether to retry after this failure."""
        if isinstance(error, ToolException) and not error.retryable:
            return False
        return isinstance(error, self.on)


def _is_exception(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Exception)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
