"""Keep a connection to one MCP server while this server runs."""

import asyncio
import logging
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from sidecall.features.mcp_client.link import (
    CallRefused,
    LinkChanges,
    LinkLost,
    LinkRefused,
    ListedTool,
    RemoteAnswer,
    ServerAbsent,
    UpstreamLink,
)
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.secret_mask import SecretMask
from sidecall.kernel.lifecycle import UpstreamState

logger = logging.getLogger("sidecall")


# Seconds between two polls of a server without a lasting connection, and between attempts to connect.
_LOOK = 30.0

_FIRST_PAUSE = 0.5
# Seconds between two lists, however often a server says that its tools have changed.
_PAUSE_OF_LISTS = 0.5

_LONGEST_PAUSE = 60.0
# Seconds after which a connection counts as stable.
_STEADY = 60.0

# Opens a connection and reports its changes; on request with the revisions before 2026-07-28 only.
OpenLink = Callable[[LinkChanges, bool], AbstractAsyncContextManager[UpstreamLink]]


class UpstreamServer:
    """One MCP server: its state, its tools, and its connection.

    `listed` is its last list of tools, which are not offered while it is unreachable. It counts as connected once its
    tools are offered.
    """

    def __init__(
        self,
        name: str,
        entry: UpstreamEntry,
        open_link: OpenLink,
        on_change: Callable[["UpstreamServer"], object],
        connect_timeout: float = 30.0,
    ) -> None:
        self.name = name
        self.entry = entry
        self.state: UpstreamState = "connecting"
        self.since = time.time()
        self.trouble: str | None = None
        self.revision: str | None = None
        self.connects = 0
        self.listed: tuple[ListedTool, ...] = ()
        self.tried = asyncio.Event()
        self._open_link = open_link
        self._on_change = on_change
        self._timeout = connect_timeout
        self._words = EntrySanitizer(entry)
        self._ways = _ProtocolModes()
        self._link: UpstreamLink | None = None
        self._news = LinkChanges()
        self._ended = asyncio.Event()
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def is_reached(self) -> bool:
        """Whether the server is connected, so that its tools are offered."""
        return self._link is not None

    async def run(self) -> None:
        """Connect repeatedly, until `end` is called."""
        pause = _FIRST_PAUSE
        while not self._ended.is_set():
            self._news = LinkChanges()
            begun, connects = time.monotonic(), self.connects
            try:
                await self._stay_connected()
            except Exception as error:  # Exception groups too, which the official client often raises.
                trouble = self._words.clean(self._news.gone or _format_error(error))
                if connects == self.connects and self._ways.note_failure(error):
                    logger.info("MCP server %s is asked in the way of earlier revisions: %s", self.name, trouble)
                    continue
                self._go_down(trouble)
            if time.monotonic() - begun > _STEADY:
                pause = _FIRST_PAUSE
            with suppress(TimeoutError):
                async with asyncio.timeout(pause * random.uniform(0.75, 1.25)):  # noqa: S311  it is no secret
                    await self._ended.wait()
            pause = min(2 * pause, _LONGEST_PAUSE)

    def confirm(self, listed: tuple[ListedTool, ...]) -> None:
        """Mark as connected once its list is offered, if it is still the same list."""
        if self._link is not None and self.listed is listed and self.state != "connected":
            self._set_state("connected", None)
            logger.info("MCP server %s is connected, tools: %d", self.name, len(listed))

    def end(self) -> None:
        """Shut the connection down gracefully."""
        self._ended.set()
        self._news.notify_gone("The server ends.")

    async def call(
        self, name: str, args: Mapping[str, Any], context: ToolContext, headers: Mapping[str, str]
    ) -> RemoteAnswer:
        """Call one of its tools.

        Raises:
            ToolException: The server is down, or refuses the call.
        """

        async def report(done: float, total: float | None, message: str | None) -> None:
            context.report_progress(done, total, message or "")

        link = self._link
        if link is None:
            raise self._make_failure()
        try:
            with self._running_one():
                # In its own task: the client's cancel scopes must end in the task in which they began.
                return await asyncio.create_task(link.call(name, args, report, headers))
        except LinkLost as error:
            if headers:
                self._news.notify_changed()  # It may be this connection only; a poll shows whether the server is there.
            else:
                self._news.notify_gone(str(error))
            raise self._make_failure() from error
        except CallRefused as error:
            self._news.notify_changed()  # A poll shows whether it is still there, and still has the tool.
            raise ToolException(f"Error: {error}") from error

    async def wait_until_idle(self) -> None:
        """Wait until no call runs there; a call's own time limits that."""
        await self._idle.wait()

    @contextmanager
    def _running_one(self) -> Iterator[None]:
        self._calls += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    def _make_failure(self) -> ToolException:
        return ToolException(
            f"Error: {self.name}, the server that runs this tool, is out of reach just now. Try again later.",
            retryable=True,
        )

    async def _stay_connected(self) -> None:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._timeout):
                link = await stack.enter_async_context(self._open_link(self._news, self._ways.is_legacy))
                listed = await link.list_tools()
            self._ways.note_success()
            self._link, self.revision = link, link.revision
            self.connects += 1
            self._take(listed, is_new=True)
            try:
                await self._follow(link)
            except Exception as error:
                self._news.notify_gone(_format_error(error))
            finally:
                self._link = None
                # Before the connection is closed, which takes a while.
                self._go_down(self._words.clean(self._news.gone or "It is not asked any more."))
                self._on_change(self)

    async def _follow(self, link: UpstreamLink) -> None:
        """List the tools again after changes, and periodically where there is no lasting connection."""
        while self._news.gone is None:
            seen = await self._wait(_LOOK if self.entry.url is not None else None)
            if self._news.gone is None and (self._news.changed or not seen):
                self._news.changed = False
                async with asyncio.timeout(self._timeout):
                    self._take(await link.list_tools(), is_new=False)
                await asyncio.sleep(_PAUSE_OF_LISTS)

    async def _wait(self, seconds: float | None) -> bool:
        """Wait for news, and return whether there are any."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.has_any.wait()
        except TimeoutError:
            return False
        if self._news.gone is None:
            self._news.has_any.clear()
        return True

    def _take(self, listed: list[ListedTool], *, is_new: bool) -> None:
        wanted = tuple(tool for tool in listed if self.entry.offers(tool.name))
        if is_new or wanted != self.listed:
            self.listed = wanted
            self._on_change(self)
        self.tried.set()

    def _go_down(self, trouble: str) -> None:
        was = self.state
        self._set_state("down", trouble)
        if was != "down" and not self._ended.is_set():
            logger.warning("MCP server %s is out of reach, its tools are not offered: %s", self.name, trouble)
            self._on_change(self)
        self.tried.set()

    def _set_state(self, state: UpstreamState, trouble: str | None) -> None:
        if state != self.state:
            self.since = time.time()
        self.state, self.trouble = state, trouble


class _ProtocolModes:
    """Whether to use the newest revision of the protocol, or the older ones only.

    Some servers stop at a first message that they do not know, or fail oddly. Then the other way is tried: at once
    until one has worked, later the one that failed least recently.
    """

    def __init__(self) -> None:
        self.is_legacy = False
        self._has_hurried = False
        self._was_slow = False

    def note_success(self) -> None:
        """Keep the way that has just worked."""
        self._has_hurried, self._was_slow = True, False

    def note_failure(self, error: BaseException) -> bool:
        """Choose the next mode, and return whether to try it at once."""
        if _has(error, ServerAbsent) or (_has(error, LinkRefused) and not self.is_legacy):
            return False  # The newest mode falls back to the older one by itself if a server answers at all.
        # A slow server may just be starting for the first time.
        is_slow, was_slow = _has(error, TimeoutError), self._was_slow
        self._was_slow = is_slow and not was_slow
        if self._was_slow:
            return False
        self.is_legacy = not self.is_legacy
        is_first, self._has_hurried = not self._has_hurried, True
        return is_first and not is_slow


def _has(error: BaseException, kind: type[Exception]) -> bool:
    return isinstance(error, kind) or (
        isinstance(error, BaseExceptionGroup) and any(_has(inner, kind) for inner in error.exceptions)
    )


def _format_error(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "It does not answer in time."
    text = str(error).partition("\n")[0][:300]
    return text if isinstance(error, LinkLost) else f"{type(error).__name__}: {text}".removesuffix(": ")


# Escape sequences of terminals.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_]?)")
# Values that are not secrets: words, paths and plain addresses. A name that marks a secret takes precedence.
_PLAIN = re.compile(r"[A-Za-z]+|[~.]{0,2}/\S*|\w+://[^/@\s]*(?:/[^?@\s]*)?")

_SHORTEST = 8


class EntrySanitizer:
    """Sanitizes texts of one server."""

    def __init__(self, entry: UpstreamEntry) -> None:
        self._mask = SecretMask()
        for secret in _list_secrets(entry):
            self._mask.add(secret)

    def clean(self, text: str, *, is_cut: bool = False) -> str:
        """Return a text without secrets and control characters; one that `is_cut` may end within a secret."""
        text = _ESCAPES.sub("", text)
        if is_cut:
            text = text[: len(text) - self._mask.measure_begun(text)]
        text = self._mask.hide_in_text(text)
        return "".join(sign if sign.isprintable() else " " for sign in text).rstrip()


def _list_secrets(entry: UpstreamEntry) -> Iterator[str]:
    """List the values of an entry that may be secrets, and their parts that may appear alone."""
    redaction = Redaction()
    for name, value in (*entry.env.items(), *entry.headers.items(), *_pair_options(entry.args)):
        if redaction.is_secret(name):
            yield value
            yield from value.split()[1:]  # The token after `Bearer`.
        elif len(value) >= _SHORTEST and not _PLAIN.fullmatch(value):
            yield value
        yield from _list_passwords(value)
    for value in entry.args:
        yield from _list_passwords(value)


def _pair_options(args: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """List the options of a command whose names mark them as secrets."""
    redaction = Redaction()
    for option, following in zip(args, (*args[1:], ""), strict=False):
        name, is_joined, value = option.partition("=")
        if name.startswith("-") and redaction.is_secret(name.lstrip("-")):
            yield name.lstrip("-"), value if is_joined else following


def _list_passwords(value: str) -> Iterator[str]:
    """List the password in an address."""
    try:
        password = urlsplit(value).password if "://" in value else None
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)
