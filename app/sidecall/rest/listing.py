"""Remember what `GET /tools` answers."""

import hashlib
from dataclasses import dataclass

from sidecall.http.reply import Reply
from sidecall.registry import Registry

# Different queries of one server are few. Beyond them the oldest goes, so that whoever makes up queries costs others at
# most one rendering in so many requests of theirs.
_MOST = 64


@dataclass(frozen=True, slots=True)
class Listing:
    """The bytes of one answer, and the ETag that changes when they do."""

    body: bytes
    etag: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers that go with it."""
        return {"ETag": self.etag, "Cache-Control": "no-cache"}


def make_listing(body: bytes) -> Listing:
    """Give bytes their ETag."""
    return Listing(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


class Listings:
    """Remember answers by the request's query, until the registry changes.

    Nothing is remembered while a tool decides by the caller whether it is offered.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._version = registry.version
        self._known: dict[bytes, Listing] = {}

    def find(self, query: bytes) -> Listing | None:
        """Return the answer to this query, unless it is not known."""
        if self._version != self._registry.version:
            self._version = self._registry.version
            self._known = {}
        return self._known.get(query)

    def keep(self, query: bytes, listing: Listing, version: int) -> None:
        """Remember it, if every caller is answered the same and the registry is still of this version."""
        is_fresh = version == self._version == self._registry.version
        if is_fresh and not self._registry.is_conditional:
            self._known[query] = listing
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]


def answer_listing(listing: Listing, if_none_match: str | None) -> Reply:
    """Answer with the listing, or with 304 when the client has it."""
    if has(if_none_match, listing.etag):
        return Reply(b"", 304, listing.headers)
    return Reply(listing.body, 200, listing.headers)


def has(if_none_match: str | None, etag: str) -> bool:
    """Return whether a client has what bears this ETag, compared weakly, as RFC 9110 §13.1.2 wants it."""
    known = [part.strip().removeprefix("W/") for part in (if_none_match or "").split(",")]
    return etag in known or "*" in known
