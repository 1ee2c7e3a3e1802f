"""Send webhooks, each until its receiver has confirmed it; those of ended calls, and of what else has a queue."""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol

from msgspec import Struct

from sidecall.features.jobs.errors import UnknownCall
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.webhooks.queue import Due, DueCallback, DueMessage, MessageQueue, NotSent
from sidecall.features.webhooks.receivers import AllowedHosts, Receiver
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.errors import CallbackRefused
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.lazy_imports import later

if TYPE_CHECKING:
    from sidecall.features.webhooks.sender import Sender

# With which the client of HTTP comes.
_open_sender: "Callable[[Sequence[bytes]], Sender]" = later("sidecall.features.webhooks.sender:Sender")
# A host and its port; None for one that is not allowed.
Host = tuple[str, int] | None

# Open messages in all, those to slow hosts, and those to each host of either kind.
MOST = 20

_MOST_LATE = 15

MOST_OF_HOST = 4

_MOST_OF_LATE_HOST = 1
# Seconds within which a prompt host answers.
_PROMPT = 2.0
# Hosts that are known to be prompt.
_MOST_KNOWN = 1000


class HostSlots:
    """Limit open messages by host: several for hosts that were prompt last, one for slow or unknown ones."""

    def __init__(self) -> None:
        """Start with all slots free, and no host known."""
        self._taken: Counter[Host] = Counter()
        self._prompt: dict[Host, None] = {}

    @property
    def are_taken(self) -> bool:
        """Whether no slot is free, for any host."""
        return self._taken.total() >= MOST

    def take(self, host: Host) -> bool:
        """Take a slot for a message to a host; False if none is free."""
        has_place = not self.are_taken and self._taken[host] < MOST_OF_HOST
        if has_place and self._may_be_late(host):
            late = sum(count for other, count in self._taken.items() if self._may_be_late(other))
            has_place = self._taken[host] < _MOST_OF_LATE_HOST and late < _MOST_LATE
        if has_place:
            self._taken[host] += 1
        return has_place

    def _may_be_late(self, host: Host) -> bool:
        return host is not None and host not in self._prompt  # To none nothing is sent.

    def leave(self, host: Host) -> None:
        """Give one back."""
        self._taken[host] -= 1
        if not self._taken[host]:
            del self._taken[host]

    def note(self, host: Host, seconds: float) -> None:
        """Note how long a host took to answer, or not to."""
        self._prompt.pop(host, None)
        if seconds < _PROMPT:
            if len(self._prompt) >= _MOST_KNOWN:
                del self._prompt[next(iter(self._prompt))]
            self._prompt[host] = None


logger = logging.getLogger("sidecall")

# Writes what `GET /tool_calls/{id}` shows.
ShowEntry = Callable[[CallEntry], bytes]

# Seconds between attempts, about eighteen hours in all.
PAUSES = (5.0, 30.0, 120.0, 600.0, 1800.0, 7200.0, 18_000.0, 36_000.0)
# Seconds between two polls for due messages, and between polls after a success, when more may be due.
_LOOK = 1.0

_BREATH = 0.1
# Seconds for which a server owns a message; if it stops, another one sends it then.
_LEASE = 60.0
# Messages that are examined, so that those to busy hosts do not hide others.
_MOST_LISTED = 200
# Seconds for open messages at shutdown.
_PATIENCE = 3.0


class Receivers(Protocol):
    """The receivers of one server; false where there are none."""

    def __bool__(self) -> bool:
        """Return whether there are any."""

    def find(self, text: str) -> Receiver:
        """Return the receiver of a message.

        Raises:
            CallbackRefused: It may not be told.
        """


class Message(Struct, frozen=True):
    """What a receiver gets; the id is the same in each attempt."""

    id: str
    body: bytes


class MessageDispatcher(Generic[Due]):
    """Send due messages, each at least once."""

    def __init__(
        self,
        queue: MessageQueue[Due],
        hosts: Receivers,
        keys: Sequence[bytes],
        compose: Callable[[Due], Awaitable[Message | None]],
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        """Take the parts.

        Args:
            queue: Which messages are due.
            hosts: Where they may go.
            keys: The keys for signatures.
            compose: Writes a message; None where there is nothing to send.
            pauses: Seconds between attempts.
        """
        self._queue = queue
        self._hosts = hosts
        self._keys = keys
        self._compose = compose
        self._pauses = pauses
        self._sending: dict[asyncio.Task[None], Host] = {}
        self._places = HostSlots()
        self._ended = asyncio.Event()
        self._sender: Sender | None = None
        self._loop: asyncio.Task[None] | None = None
        self._is_waiting = False  # For the store.

    def open(self) -> None:
        """Start to look for due messages, unless no receivers are configured."""
        if self._hosts:
            self._sender = _open_sender(self._keys)
            self._loop = asyncio.get_running_loop().create_task(self._go_round(self._sender))

    async def close(self) -> None:
        """Stop sending; open messages have a few seconds, and are sent again by another server otherwise."""
        if self._loop is None or self._sender is None:
            return
        self._loop.cancel()
        await asyncio.gather(self._loop, return_exceptions=True)
        self._loop = None
        if self._sending:
            _, late = await asyncio.wait(self._sending, timeout=_PATIENCE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._sender.close()

    async def _go_round(self, sender: "Sender") -> None:
        while True:
            began, is_more_due = time.monotonic(), False
            self._ended.clear()
            try:
                is_more_due = await self._send_due(sender)
                self._go_on()
            except StoreUnavailable:
                self._wait()
            except Exception:
                logger.exception("webhooks could not be sent; it is tried again in %g s", _LOOK)
            # Reading very many takes long, and is followed by a pause of the same length.
            await asyncio.sleep(max(_BREATH, time.monotonic() - began) if is_more_due else _LOOK)
            if is_more_due:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK):
                        await self._ended.wait()

    def _wait(self) -> None:
        if not self._is_waiting:
            logger.warning("webhooks wait: the store cannot be used just now")
        self._is_waiting = True

    def _go_on(self) -> None:
        if self._is_waiting:
            logger.warning("the store can be used again, and webhooks are sent")
        self._is_waiting = False

    async def _send_due(self, sender: "Sender") -> bool:
        """Send messages for which there are slots, and return whether there may be more."""
        if self._places.are_taken:
            return True
        due = await self._queue.list_due(time.time(), _MOST_LISTED, MOST_OF_HOST)
        for callback in due:
            host = self._find_host(callback)
            if self._places.take(host):
                await self._begin(sender, callback, host)
        return bool(due)

    async def _begin(self, sender: "Sender", callback: Due, host: Host) -> None:
        """Start to send a message that has a slot; the slot is released if another server was faster."""
        claimed = None
        try:
            claimed = await self._queue.claim(callback, time.time() + _LEASE)
        finally:
            if claimed is None:
                self._places.leave(host)
        if claimed is not None:
            task = asyncio.create_task(self._carry(sender, claimed))
            self._sending[task] = host
            task.add_done_callback(self._note_end)

    def _find_host(self, callback: Due) -> Host:
        try:
            receiver = self._hosts.find(callback.url)
        except CallbackRefused:
            return None
        return receiver.host, receiver.port

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._places.leave(self._sending.pop(task))
        self._ended.set()

    async def _carry(self, sender: "Sender", callback: Due) -> None:
        try:
            await self._queue.settle(callback, await self._send(sender, callback))
        except (StoreUnavailable, UnknownCall) as error:
            logger.warning("webhook of %s: it is not known whether to send it again: %r", callback.subject, error)
        except Exception:
            logger.exception("webhook of %s could not be sent", callback.subject)

    async def _send(self, sender: "Sender", callback: Due) -> float | None:
        """Send a message, and return the time of the next attempt; None if it is done."""
        try:
            receiver = self._hosts.find(callback.url)
            message = await self._compose(callback)
            if message is None:
                return None
            await self._post(sender, receiver, message)
        except CallbackRefused as error:
            _give_up(callback, error.message)
            return None
        except NotSent as error:
            if error.is_final or callback.tries > len(self._pauses):
                _give_up(callback, str(error))
                return None
            pause = self._pauses[callback.tries - 1] * random.uniform(1.0, 1.2)  # noqa: S311
            logger.info("webhook of %s is sent again in %.0f s: %s", callback.subject, pause, error)
            return time.time() + pause
        logger.debug("webhook of %s was heard", callback.subject)
        return None

    async def _post(self, sender: "Sender", receiver: Receiver, message: Message) -> None:
        began = time.monotonic()
        try:
            await sender.send(receiver, message.id, message.body)
        finally:
            self._places.note((receiver.host, receiver.port), time.monotonic() - began)


def _give_up(callback: DueMessage, reason: str) -> None:
    logger.warning("webhook of %s is given up after try %d: %s", callback.subject, callback.tries, reason)


class WebhookDispatcher(MessageDispatcher[DueCallback]):
    """Send the webhooks of calls that have ended."""

    def __init__(
        self,
        ledger: Ledger,
        hosts: AllowedHosts,
        keys: Sequence[bytes],
        show: ShowEntry,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        """Take the parts; `show` writes the body of a call."""
        super().__init__(ledger.callbacks, hosts, keys, self._write_message, pauses)
        self._calls = ledger.calls
        self._show = show

    async def _write_message(self, callback: DueCallback) -> Message:
        entry = await self._calls.get(callback.call_id, callback.tenant)
        # Its answer may be large.
        return Message(f"msg_{entry.id}", await RESULTS.run(self._write, entry))

    def _write(self, entry: CallEntry) -> bytes:
        ended = (entry.ended_at or entry.created_at).isoformat().replace("+00:00", "Z")
        head = f'{{"type":"tool_call.{entry.status}","timestamp":"{ended}","data":'
        return head.encode() + self._show(entry) + b"}"
