"""Contents: large parts of answers and uploads, stored whole for their caller."""

import asyncio
import re
from collections.abc import Coroutine
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from sidecall.kernel.concurrency.coroutines import WouldWait, await_on, finish_on
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import UnknownContent
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.ports.own_contents import BYTES, ContentBody, ContentNotKept, NoSuchContent

T = TypeVar("T")

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
# A type and its parameters, in what a header may hold.
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]{1,64}/[\w!#$&^.+-]{1,64}([ \t]*;[ -~]*)?", re.ASCII)
_LONGEST = 255


class TooManyContents(Overloaded):
    """You keep as many bytes of contents as one caller may."""

    problem = (429, "too-many-contents")

    def __init__(self, quota: int, free_in: float) -> None:
        """Refuse a body; `free_in` is the number of seconds until the first stored content expires."""
        super().__init__(
            f"Bytes of contents that one caller may keep: {quota:,}. Delete some, or wait until they expire.",
            retry_after=max(1, round(free_in)),
        )


class KeptContent(Struct, frozen=True):
    """One content: its bytes and media type.

    It never changes, so its id identifies its bytes.
    """

    id: str
    tenant: str
    caller: str
    media_type: str
    body: bytes


class ReachableContents(Protocol):
    """The part of the content store that tools need."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop on which the methods must run; None if they never wait and are thread-safe."""

    async def keep(self, body: str | bytes, caller: Caller, media_type: str, *, is_sent: bool = False) -> str | None:
        """Store a caller's body and return an unguessable id; None if it cannot be stored.

        If the caller has no room left, its oldest contents are deleted, unless the body was uploaded.

        Raises:
            TooManyContents: It was sent, and there is no room for it.
        """

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Return a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
        """


class Contents(ReachableContents, Protocol):
    """Stores contents until they expire, each accessible to its caller only."""

    @property
    def ttl(self) -> float:
        """The seconds for which a content is kept, if there is room."""

    @property
    def quota(self) -> int:
        """The maximum number of bytes for one caller."""

    async def remove(self, content_id: str, caller: Caller) -> None:
        """Delete a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
            StoreUnavailable: It could not be removed just now.
        """


class CallerContents:
    """The contents of one caller, for the tools that serve it.

    The sync methods may be called from any thread. On the event loop they work only if they need not wait.
    """

    def __init__(self, contents: ReachableContents, caller: Caller) -> None:
        self._contents = contents
        self._caller = caller

    async def aread(self, content_id: str) -> ContentBody:
        """Return a content, by its id or its URL.

        Raises:
            NoSuchContent: There is none, it has expired, or it is another caller's.
        """
        return await await_on(self._contents.loop, self._read(content_id))

    def read(self, content_id: str) -> ContentBody:
        """Do the same in a sync function."""
        return self._finish("read_content", self._read(content_id))

    async def asave(self, body: str | bytes, media_type: str | None = None) -> str:
        """Save a body and return its id.

        Raises:
            ContentNotKept: It is too large, or the caller has no room left.
            ValueError: That is no media type.
        """
        return await await_on(self._contents.loop, self._save(body, media_type))

    def save(self, body: str | bytes, media_type: str | None = None) -> str:
        """Do the same in a sync function."""
        return self._finish("save_content", self._save(body, media_type))

    async def _read(self, content_id: str) -> ContentBody:
        try:
            # Models and programs know contents by their URLs.
            found = await self._contents.get(str(content_id).rpartition("/")[2], self._caller)
        except UnknownContent:
            raise NoSuchContent.of(str(content_id)) from None
        return ContentBody(found.body, found.media_type)

    async def _save(self, body: str | bytes, media_type: str | None) -> str:
        kind = media_type or (TEXT if isinstance(body, str) else BYTES)
        if not is_media_type(kind):
            raise ValueError(f"{kind!r} is no media type, such as application/pdf")
        try:
            content_id = await self._contents.keep(body, self._caller, kind, is_sent=True)
        except TooManyContents as error:
            raise ContentNotKept(error.message) from None
        if content_id is None:
            raise ContentNotKept(f"{ContentNotKept.__doc__} It takes {len(body):,} bytes.")
        return content_id

    def _finish(self, name: str, coroutine: Coroutine[Any, Any, T]) -> T:
        try:
            return finish_on(self._contents.loop, coroutine)
        except WouldWait:
            raise RuntimeError(
                f"{name}_sync() has to wait here, which would hold up all other calls; write `await {name}(...)` in an "
                "async tool, or let a sync one run in a thread."
            ) from None


def is_media_type(text: str) -> bool:
    """Return whether a text is a media type that is valid in a header."""
    return len(text) <= _LONGEST and _MEDIA_TYPE.fullmatch(text) is not None
