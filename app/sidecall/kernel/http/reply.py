"""A prepared JSON answer, sent by the framework or by the fast path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from starlette.responses import Response

_NOT_MODIFIED = 304
# For answers that have none of their own, since to make an empty one takes longer than to write it.
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_JSON = (b"content-type", b"application/json")
# Names of headers that are kept as they are sent; answers have few.
_NAMES = 256


@dataclass(slots=True)
class Reply:
    """The body of an answer, its status and its extra headers; may be sent many times."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    _raw: list[tuple[bytes, bytes]] | None = field(default=None, repr=False, compare=False)

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """All headers in ASGI's form, those of the body included."""
        if self._raw is None:
            self._raw = [] if self.status == _NOT_MODIFIED else [(b"content-length", b"%d" % len(self.body)), _JSON]
            for name, value in self.headers.items():
                self._raw.append((_write_name(name), value.encode("latin-1")))
        return self._raw

    def to_response(self) -> Response:
        """Build the response that a route returns."""
        media_type = None if self.status == _NOT_MODIFIED else "application/json"
        return Response(self.body, self.status, self.headers, media_type=media_type)


@lru_cache(_NAMES)
def _write_name(name: str) -> bytes:
    return name.lower().encode("latin-1")
