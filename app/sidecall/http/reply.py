"""An answer in JSON that is ready to be sent, by the framework or in front of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import Send

_NOT_MODIFIED = 304
_JSON = (b"content-type", b"application/json")


@dataclass(slots=True)
class Reply:
    """The body of an answer, its status and its headers of its own."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_response(self) -> Response:
        """Make the response that a route returns."""
        media_type = None if self.status == _NOT_MODIFIED else "application/json"
        return Response(self.body, self.status, self.headers, media_type=media_type)

    async def send(self, send: Send) -> None:
        """Send it without the framework, as that would send it."""
        named = []
        if self.status != _NOT_MODIFIED:
            named = [(b"content-length", b"%d" % len(self.body)), _JSON]
        if self.headers:
            named += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": named})
        await send({"type": "http.response.body", "body": self.body})
