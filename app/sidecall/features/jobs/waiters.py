"""Wait for the ends of calls, and hear of them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from sidecall.kernel.concurrency.coroutines import settle
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.notifications import Notifications

News = asyncio.Future[CallEntry | None]


class CompletionWaiters:
    """Deliver the completion of a call to its waiters here, and a notification of it to other servers."""

    def __init__(self, notifications: Notifications | None = None) -> None:
        self._notifications = notifications
        self._waiting: dict[str, list[News]] = {}

    @contextmanager
    def listen(self, call_id: str) -> Iterator[News]:
        """Wait for news of a call once: its entry when it has ended, None for another change, or an error."""
        news = self.join(call_id)
        try:
            yield news
        finally:
            self.leave(call_id, news)

    def join(self, call_id: str) -> News:
        """Add a waiter; it has to leave again."""
        news: News = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(call_id, []).append(news)
        return news

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._waiting

    def leave(self, call_id: str, news: News) -> None:
        """Stop waiting."""
        listeners = self._waiting[call_id]
        listeners.remove(news)
        if not listeners:
            del self._waiting[call_id]
        if news.done() and not news.cancelled():
            news.exception()  # A waiter that has stopped waiting needs no news.

    def publish(self, call_id: str, news: CallEntry | BaseException | None = None) -> None:
        """Deliver news to all waiters of this call, at all servers."""
        self.notify_others(call_id)
        self.deliver(call_id, news)

    def notify_others(self, call_id: str) -> None:
        """Notify other servers that this call has changed."""
        if self._notifications is not None:
            self._notifications.tell("changed", call_id)

    def wake_all(self) -> None:
        """Have all who wait look for themselves."""
        for call_id in list(self._waiting):
            self.deliver(call_id)

    def deliver(self, call_id: str, news: CallEntry | BaseException | None = None) -> None:
        """Deliver news to all waiters of this call in this process."""
        for waiting in self._waiting.get(call_id, ()):
            if waiting.done():
                continue
            if isinstance(news, BaseException):
                waiting.set_exception(news)
            else:
                waiting.set_result(news)


async def wait_for_news(news: News, seconds: float) -> CallEntry | None:
    """Wait up to so many seconds for news; None if there are none, or they do not include the call's state."""
    # Cheaper than asyncio's own timeouts, which take a task or two.
    timer = asyncio.get_running_loop().call_later(seconds, settle, news)
    try:
        return await news
    finally:
        timer.cancel()
