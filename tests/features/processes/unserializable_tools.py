"""A tool whose process cannot tell the server what it raises."""

from sidecall import ToolException, tool


class Endless(ToolException):
    """Says of itself what JSON cannot say."""

    def __init__(self) -> None:
        super().__init__("later", retryable=True)
        self.retry_after_ms = 10**6000


class Broken(ToolException):
    """Says nothing of itself."""

    @property
    def retryable(self) -> bool:
        """Whether it may be tried again."""
        raise RuntimeError("broken")

    @retryable.setter
    def retryable(self, value: bool) -> None:
        """Leave it."""


UNSAYABLE: dict[str, BaseException] = {"endless": Endless(), "broken": Broken()}


@tool(executor="process")
def failing(name: str | None = None) -> None:
    """Raise something.

    Args:
        name: What.
    """
    if name is not None:
        raise UNSAYABLE[name]
