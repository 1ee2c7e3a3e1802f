"""Who waits in this process for the end of which call."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from sidecall.core.calls.entry import CallEntry

News = asyncio.Future[CallEntry | None]


class Ends:
    """Know those who wait for a call, and let them hear what became of it."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[News]] = {}

    @contextmanager
    def listen(self, call_id: str) -> Iterator[News]:
        """Hear of a call once: its entry when it has ended, None when something else has changed, or an error."""
        news = self.join(call_id)
        try:
            yield news
        finally:
            self.leave(call_id, news)

    def join(self, call_id: str) -> News:
        """Begin to listen, for whoever leaves again."""
        news: News = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(call_id, []).append(news)
        return news

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._waiting

    def leave(self, call_id: str, news: News) -> None:
        """Listen no more."""
        listeners = self._waiting[call_id]
        listeners.remove(news)
        if not listeners:
            del self._waiting[call_id]
        if news.done() and not news.cancelled():
            news.exception()  # Whoever stopped waiting does not want to hear of it.

    def tell(self, call_id: str, news: CallEntry | BaseException | None = None) -> None:
        """Pass news on to all who wait for this call."""
        for waiting in self._waiting.get(call_id, ()):
            if waiting.done():
                continue
            if isinstance(news, BaseException):
                waiting.set_exception(news)
            else:
                waiting.set_result(news)


async def hear(news: News, seconds: float) -> CallEntry | None:
    """Wait so many seconds for news; None where there are none, or they do not say how the call stands."""
    # Cheaper than asyncio's own timeouts, which take a task or two.
    timer = asyncio.get_running_loop().call_later(seconds, _hear_nothing, news)
    try:
        return await news
    finally:
        timer.cancel()


def _hear_nothing(news: News) -> None:
    if not news.done():
        news.set_result(None)
