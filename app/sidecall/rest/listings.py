"""Answers about tools that are cached, with their ETags, until the tools change."""

import asyncio
import hashlib
from collections.abc import Callable

from msgspec import Struct

from sidecall.http.fast_path import Reply
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import LISTINGS
from sidecall.kernel.core.context import ANONYMOUS, Caller, Toolset
from sidecall.kernel.registry import Registry

# Different queries of one server are few. Beyond them the oldest goes, so that made-up queries cost others at
# most one rendering in so many requests of theirs.
_MOST = 64
# Tools whose listing is written at once; more of them, in strict form, would hold up the event loop.
_FEW = 100


class Listing(Struct, frozen=True):
    """An answer, its ETag, and the shorter answer for clients that have it already."""

    etag: str
    whole: Reply
    unchanged: Reply

    def reply_to(self, if_none_match: str | None) -> Reply:
        """Return the answer to a client with this `If-None-Match`."""
        return self.unchanged if has(if_none_match, self.etag) else self.whole


def make_listing(body: bytes, link: str | None = None) -> Listing:
    """Make a listing from bytes, with its ETag, and a link to the next page."""
    etag = f'"{hashlib.sha256(body + (link or "").encode()).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", **({} if link is None else {"Link": link})}
    return Listing(etag, Reply(body, 200, headers), Reply(b"", 304, headers))


# The part of a caller that decides what it sees; None for a caller that sees everything.
Sight = tuple[frozenset[str], Toolset | None] | None


class ToolListings:
    """Answers about the tools of a registry: lists of them, and single ones by their names."""

    def __init__(self, registry: Registry) -> None:
        """Begin with none."""
        self.pages = Listings(registry)
        self.details = Listings(registry)


class Listings:
    """Caches answers by query and visible tools, until the registry changes.

    Nothing is cached while a tool is enabled per caller.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._version = registry.version
        self._known: dict[tuple[bytes, Sight], Listing] = {}
        self._making: dict[tuple[bytes, Sight, int], asyncio.Task[Listing]] = {}

    def find(self, query: bytes, caller: Caller | None = None) -> Listing | None:
        """Return the cached answer to this query; `caller` is None where callers are not told apart."""
        if self._version != self._registry.version:
            self._version = self._registry.version
            self._known = {}
        sight = None if caller is None else self._see(caller)
        return self._known.get((query, sight))

    async def make(
        self, query: bytes, version: int, count: int, write: Callable[[], Listing], caller: Caller = ANONYMOUS
    ) -> Listing:
        """Make and cache an answer; one about many tools is made in a thread, once for all concurrent requests.

        Raises:
            InvalidParameter: The query cannot be answered.
        """
        if count <= _FEW:
            listing = write()
        elif self._registry.is_conditional:
            listing = await LISTINGS.run_for(key_of(caller), write)
        else:
            listing = await self._join((query, self._see(caller), version), write)
        self.keep(query, listing, version, caller)
        return listing

    async def _join(self, wanted: tuple[bytes, Sight, int], write: Callable[[], Listing]) -> Listing:
        """Make it, or wait for the running one; it is finished even if its requesters disconnect."""
        making = self._making.get(wanted)
        if making is None:
            making = self._making[wanted] = asyncio.create_task(LISTINGS.run(write))
            making.add_done_callback(lambda _: self._making.pop(wanted))
        return await asyncio.shield(making)

    def keep(self, query: bytes, listing: Listing, version: int, caller: Caller = ANONYMOUS) -> None:
        """Cache it, if it is the same for all with these scopes and the registry has not changed."""
        is_fresh = version == self._version == self._registry.version
        if is_fresh and not self._registry.is_conditional:
            self._known[query, self._see(caller)] = listing
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]

    def _see(self, caller: Caller) -> Sight:
        scopes = self._registry.scopes
        if caller is ANONYMOUS or (caller.toolset is None and caller.may(*scopes)):
            return None
        return scopes if caller.may(*scopes) else caller.scopes & scopes, caller.toolset


def has(if_none_match: str | None, etag: str) -> bool:
    """Return whether a client has this ETag, with weak comparison (RFC 9110 §13.1.2)."""
    known = [part.strip().removeprefix("W/") for part in (if_none_match or "").split(",")]
    return etag in known or "*" in known
