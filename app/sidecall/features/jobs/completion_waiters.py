"""Who waits for the end of which call: in this process, and at other servers."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from sidecall.features.calls.entry import CallEntry
from sidecall.features.calls.notices import NoNotices, Notices

News = asyncio.Future[CallEntry | None]


class Ends:
    """Know those who wait for a call, and let them hear what became of it; other servers hear that something has."""

    def __init__(self, notices: Notices | None = None) -> None:
        self._notices = notices or NoNotices()
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
        """Pass news on to all who wait for this call, wherever they do."""
        self.tell_others(call_id)
        self.pass_on(call_id, news)

    def tell_others(self, call_id: str) -> None:
        """Let the other servers know that this call stands otherwise than before."""
        self._notices.tell("changed", call_id)

    def pass_on_all(self) -> None:
        """Have all who wait look for themselves."""
        for call_id in list(self._waiting):
            self.pass_on(call_id)

    def pass_on(self, call_id: str, news: CallEntry | BaseException | None = None) -> None:
        """Pass news on to all who wait for this call in this process."""
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
