"""The connection to a remote agent: requests, events, and the cancellation of a turn."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

import httpx

from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.json_data.foreign_json import TooManyValues, parse_foreign
from sidecall.kernel.json_data.text import LARGE

# Seconds for the message that cancels a turn.
HANGING_UP = 1.0
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))
_MOST_OF_ERROR = 500
_LINES_AT_ONCE = 100
# Characters of an unfinished answer, after which progress is reported.
_TELLING = 80
_BROKEN = "The agent's answer cannot be read: it is no JSON."


class AgentConnection:
    """The connection of one turn."""

    def __init__(
        self, client: httpx.AsyncClient, headers: Mapping[str, str], report: Callable[[str], None], *, streams: bool
    ) -> None:
        """Take a client.

        Args:
            client: A client that reaches the agent's host only.
            headers: Sent with each request.
            report: Called with the agent's progress.
            streams: Whether to ask for answers as events.
        """
        self._client = client
        self._headers = dict(headers)
        self._report = report
        self.streams = streams
        self._said = ""
        self._ending: tuple[str, Any] | None = None
        self._known = asyncio.Event()
        #: Whether a request is open whose task has no known id yet.
        self.has_begun = False

    def end_with(self, url: str, body: Any) -> None:
        """Note how the agent is told where the turn is broken off."""
        self._ending = (url, body)
        self._known.set()

    async def hang_up(self, turn: asyncio.Task[Any] | None = None) -> None:
        """Cancel the turn at the agent, within a second.

        A turn without an id yet continues until it has one.
        """
        with suppress(TimeoutError, httpx.HTTPError, ToolException):
            async with asyncio.timeout(HANGING_UP):
                if turn is not None:
                    await self._learn_name(turn)
                if self._ending is not None and not _has_answered(turn):
                    url, body = self._ending
                    await self._client.post(url, json=body, headers=self._headers)

    async def _learn_name(self, turn: asyncio.Task[Any]) -> None:
        known = asyncio.ensure_future(self._known.wait())
        try:
            if self.has_begun:
                await asyncio.wait((turn, known), return_when=asyncio.FIRST_COMPLETED)
        finally:
            known.cancel()

    def tell(self, text: str) -> None:
        """Report the agent's progress."""
        if text.strip():
            self._report(text.strip()[:1000])

    def add(self, delta: str) -> None:
        """Report an answer that arrives in pieces, not every piece."""
        self._said += delta
        if len(self._said) >= _TELLING:
            self.finish()

    def finish(self) -> None:
        """Report the rest of it."""
        self.tell(self._said)
        self._said = ""

    async def get(self, url: str) -> Any:
        """Return the JSON at an address.

        Raises:
            ToolException: There is none.
        """
        return await _read(await self._client.get(url, headers=self._headers))

    async def post(self, url: str, body: Any) -> Any:
        """Send JSON, and return the JSON answer.

        Raises:
            ToolException: The agent refuses, or answers with something else.
        """
        return await _read(await self._client.post(url, json=body, headers=self._headers))

    async def stream(self, url: str, body: Any) -> AsyncIterator[Any]:
        """Send JSON, and yield each event; a JSON answer counts as one.

        Raises:
            ToolException: The agent refuses, or an event is not JSON.
        """
        headers = {**self._headers, "Accept": "text/event-stream, application/json"}
        async with self._client.stream("POST", url, json=body, headers=headers) as response:
            if not response.is_success or not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                await response.aread()
                yield await _read(response)
                return
            lines: list[str] = []
            async for line in _take_turns(response.aiter_lines()):
                if line.startswith("data:"):
                    lines.append(line[5:].removeprefix(" "))
                elif not line and lines:
                    text, lines = "\n".join(lines), []
                    if text.strip() != "[DONE]":
                        yield await _parse(text)
            if lines and "\n".join(lines).strip() != "[DONE]":
                yield await _parse("\n".join(lines))


async def _take_turns(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield lines, and let other tasks run now and then: a chunk may hold thousands of lines."""
    count = 0
    async for line in lines:
        count += 1
        if count % _LINES_AT_ONCE == 0:
            await asyncio.sleep(0)
        yield line


def _has_answered(turn: asyncio.Task[Any] | None) -> bool:
    """Return whether nothing is left to cancel; the agent may still be working on a failed turn."""
    return turn is not None and turn.done() and not turn.cancelled() and turn.exception() is None


async def _read(response: httpx.Response) -> Any:
    if not response.is_success:
        raise _explain(response)
    return await _parse(response.text)


async def _parse(text: str) -> Any:
    try:
        return await parse_foreign(text.encode(errors="surrogatepass"), json.loads)
    except TooManyValues as error:
        raise ToolException(f"The agent's answer cannot be read: it has {error}.") from None
    except (ValueError, RecursionError):
        raise ToolException(_BROKEN) from None


def _explain(response: httpx.Response) -> ToolException:
    is_passing = response.status_code in _PASSING
    said = response.text.strip()
    if len(said) <= LARGE:  # A longer one is a page.
        with suppress(ValueError, RecursionError, TypeError, KeyError):
            said = str(json.loads(said)["error"]["message"])
    after = response.headers.get("Retry-After", "")
    wait = float(after) if after.isdecimal() and len(after) < 6 else None
    text = f"The agent answers {response.status_code}: {said[:_MOST_OF_ERROR] or response.reason_phrase}"
    return ToolException(text, retryable=is_passing, retry_after=wait if is_passing else None)
