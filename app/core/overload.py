"""What a calling program is told when there is no room for its calls."""

from app.core.errors import RequestError


class Overloaded(RequestError):
    """The server runs as many calls as it may."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        """Send a call away; `retry_after` is in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class TooManyCalls(Overloaded):
    """You run as many calls as one caller may."""
