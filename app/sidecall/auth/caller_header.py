"""Name callers by a header that a trusted gateway sets."""

from functools import lru_cache

from starlette.datastructures import Headers

from sidecall.core.context import ANONYMOUS, Caller
from sidecall.core.errors import RequestError

# As long as an e-mail address, and then some.
_LONGEST = 256
# Callers whose header need not be read again.
_REMEMBERED = 1024


class InvalidCaller(RequestError):
    """The header that says who calls does not name one caller."""


class CallerHeader:
    """Take callers from the header in which a gateway names them; whoever is not named is anonymous."""

    def __init__(self, header: str) -> None:
        self._header = header
        self._read = lru_cache(_REMEMBERED)(self._caller)

    async def authenticate(self, headers: Headers) -> Caller:
        """Return who sends a request with these headers.

        Raises:
            InvalidCaller: The header comes twice, or is too long, or not in printable UTF-8.
        """
        values = headers.getlist(self._header)
        if len(values) > 1:
            # One of them may be the client's own, which the gateway should have replaced.
            raise InvalidCaller(f"The header {self._header} must come once; it came {len(values)} times.")
        return self._read(values[0]) if values else ANONYMOUS

    def _caller(self, value: str) -> Caller:
        try:
            # Each character is a byte so far; blanks of other kinds may be the end of a letter.
            subject = value.strip(" \t").encode("latin-1").decode()
        except UnicodeDecodeError:
            raise InvalidCaller(f"The header {self._header} must be UTF-8.") from None
        if len(subject) > _LONGEST or not subject.isprintable():
            raise InvalidCaller(f"The header {self._header} must hold up to {_LONGEST} printable characters.")
        return Caller(subject) if subject else ANONYMOUS
