"""The connection to NATS: messages from process to process, and tickets for workers.

Each process has one place of its own to which others send. A ticket only says which call waits where, so that the
stream of tickets can be in memory: who holds the calls puts their tickets there again.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError, NoRespondersError, OutboundBufferLimitError
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.frames import FrameRefused, Frames
from sidecall.features.fleet.publisher import Publisher
from sidecall.features.processes.child import Frames as Messages
from sidecall.features.processes.child import Message, pack, unpack
from sidecall.kernel.core.errors import SidecallError

logger = logging.getLogger("sidecall.fleet")

ALL = "all"
_PREFIX = "sidecall"
_STREAM = "SIDECALL_TICKETS"
# Seconds after which a ticket that a worker has taken, and says nothing of, is given to another.
ACK_WAIT = 2.5
# Seconds between two trials to connect.
_WAIT = 0.25
# Seconds that the bus has for an answer of its own.
_PATIENCE = 2.0
# Seconds in which the bus says that nothing listens at a place.
_HELLO = 0.2
# Seconds that one request for a ticket waits.
_PULL = 2.0
# Tickets of calls that are long over, and of workers that do not come back.
_FORGET = 24 * 3600.0
_MOST_TICKETS = 1_000_000
# Bytes that wait for a connection that is away.
_PENDING = 64 * 1024 * 1024
# What a frame adds to its payload for the bus, beside the content.
_BESIDE = 256
# Messages of one letter that are read at once. Between, others have a turn, and what these have begun is sent.
# Read whole, a letter makes its calls wait for the last of them, and this process wait for the other one.
_AT_ONCE = 8

# Called with the sender's id, and what it says.
Hear = Callable[[str, Message], None]


class BusAway(SidecallError):
    """The bus cannot be reached."""


class Bus:
    """One connection, which is made again for as long as the process runs; for one event loop."""

    def __init__(
        self,
        access: BusAccess,
        hear: Hear,
        came_up: Callable[[], None],
        went_away: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare.

        Args:
            access: Where the bus is.
            hear: Called with each message.
            came_up: Called each time the connection is there.
            went_away: Called when it is lost.

        Raises:
            KeysUnusable: The library that encrypts is not installed.
        """
        self._access = access
        self._frames = Frames(access.keys)
        self._hear = hear
        self._came_up = came_up
        self._went_away = went_away
        self._client = Client()
        self._stream: JetStreamContext | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._publisher = Publisher(self._publish)
        # What comes to this process and what comes to all is read in the order in which it comes.
        self._reading = asyncio.Lock()
        self._is_closing = False
        self._closed = asyncio.Event()
        self._warned: set[str] = set()
        self.is_up = False

    @property
    def id(self) -> str:
        """The place of this process, to which others send."""
        return self._frames.name

    def open(self) -> None:
        """Begin to connect; calls are refused until the bus is there."""
        self._keeping = asyncio.create_task(self._keep())
        self._publisher.open()

    async def close(self) -> None:
        """End the connection, after what was sent."""
        self._is_closing, self.is_up = True, False
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait((self._keeping,))
        with suppress(Exception):
            async with asyncio.timeout(_PATIENCE):
                if self._client.is_connected:
                    await self._publisher.wait_until_sent()
                    await self._client.flush()
                await self._client.close()
        await self._publisher.close()

    def send(self, place: str, kind: str, subject: str | None, content: Any) -> None:
        """Send a message to a process, or to all, in the order of these calls.

        Raises:
            ValueError: JSON cannot say it, or it is too large.
        """
        self._publisher.add(place, pack(kind, subject, content))

    def send_packed(self, place: str, body: bytes) -> None:
        """Send a message that is packed already.

        Raises:
            ValueError: It is too large.
        """
        self._publisher.add(place, body)

    async def wait_until_sent(self) -> None:
        """Wait until the connection has taken all messages."""
        await self._publisher.wait_until_sent()

    async def is_there(self, place: str) -> bool:
        """Return whether a process listens at a place; True also where that cannot be found out."""
        try:
            # Nothing is said, so that a process that hears it need not read it.
            await self._client.request(f"{_PREFIX}.node.{place}", timeout=_HELLO)
        except NoRespondersError:
            return not self.is_up
        except (NatsError, OSError, TimeoutError):
            return True
        return True

    async def put_ticket(self, queue: str, pool: str, subject: str, number: int) -> None:
        """Put a ticket for a call into the stream.

        Raises:
            BusAway: The bus does not take it.
        """
        place = f"{queue}.{pool}"
        (frame,) = self._frames.write(place, pack("ticket", subject, number), self._room)
        for is_last in (False, True):
            try:
                if self._stream is None:
                    raise BusAway("the bus cannot be reached")
                await self._stream.publish(f"{_PREFIX}.ticket.{place}", frame, timeout=_PATIENCE, stream=_STREAM)
            except (NatsError, OSError, TimeoutError) as error:
                if is_last or not self.is_up:
                    raise BusAway(f"the bus takes no tickets: {error}") from error
                with suppress(NatsError, OSError, TimeoutError):
                    await self._declare_stream()
            else:
                return

    def read_ticket(self, queue: str, pool: str, frame: bytes) -> tuple[str, str, int] | None:
        """Return who has made a ticket, for which call, and its number; None for what is none."""
        try:
            sender, body = self._frames.read_alone(f"{queue}.{pool}", frame)
            _, call, number = unpack(body)
        except (FrameRefused, ValueError, TypeError) as refused:
            self._warn(str(refused))
            return None
        return sender, str(call), int(number)

    async def pull(self, queue: str, pool: str) -> "Tickets":
        """Begin to take the tickets of a queue and pool.

        Raises:
            BusAway: The bus cannot be reached.
        """
        if self._stream is None or not self.is_up:
            raise BusAway("the bus cannot be reached")
        name, subject = f"{queue}-{pool}", f"{_PREFIX}.ticket.{queue}.{pool}"
        wanted = ConsumerConfig(
            durable_name=name,
            filter_subject=subject,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=ACK_WAIT,
            max_ack_pending=-1,
            inactive_threshold=_FORGET,
        )
        try:
            await self._declare_stream()
            await self._stream.add_consumer(_STREAM, wanted)
            return Tickets(await self._stream.pull_subscribe_bind(name, _STREAM))
        except (NatsError, OSError, TimeoutError) as error:
            raise BusAway(f"the bus gives no tickets: {error}") from error

    async def _publish(self, place: str, body: bytes) -> None:
        """Send messages that follow one another; where the connection takes nothing more, wait until it does."""
        for frame in self._frames.write(place, body, self._room):
            while True:
                try:
                    await self._client.publish(f"{_PREFIX}.node.{place}", frame)
                except (ConnectionClosedError, OutboundBufferLimitError, OSError, TimeoutError):
                    await asyncio.sleep(_WAIT)
                except Exception as error:  # One message that cannot be sent must not hold up all others.
                    self._warn(f"the bus does not take a message: {error or type(error).__name__}")
                    return
                else:
                    break

    @property
    def _room(self) -> int:
        return self._client.max_payload - _BESIDE

    async def _keep(self) -> None:
        while True:
            try:
                self._closed.clear()
                await self._connect()
                await self._closed.wait()
            except (NatsError, SidecallError, OSError, TimeoutError, ValueError) as error:
                self._warn(f"the bus cannot be reached: {error or type(error).__name__}")
            self.is_up = False
            await asyncio.sleep(_WAIT)

    async def _connect(self) -> None:
        self._client = Client()
        await self._client.connect(
            error_cb=self._on_error,
            disconnected_cb=self._on_away,
            closed_cb=self._on_closed,
            reconnected_cb=self._on_back,
            reconnect_time_wait=_WAIT,  # type: ignore[arg-type]  # it sleeps so long
            max_reconnect_attempts=-1,
            ping_interval=2,
            pending_size=_PENDING,
            skip_subject_validation=True,  # They are made here.
            **self._access.list_options(),
        )
        self._stream = self._client.jetstream(timeout=_PATIENCE)
        for place in (self.id, ALL):
            await self._client.subscribe(f"{_PREFIX}.node.{place}", cb=self._make_reader(place))
        await self._on_back()

    async def _declare_stream(self) -> None:
        assert self._stream is not None
        await self._stream.add_stream(
            StreamConfig(
                name=_STREAM,
                subjects=[f"{_PREFIX}.ticket.>"],
                retention=RetentionPolicy.WORK_QUEUE,
                storage=StorageType.MEMORY,
                discard=DiscardPolicy.NEW,
                max_age=_FORGET,
                max_msgs=_MOST_TICKETS,
                max_msg_size=4096,
            )
        )

    def _make_reader(self, place: str) -> Any:
        async def read(message: Msg) -> None:
            if message.data:  # An empty one only asks whether this process is there.
                async with self._reading:
                    await self._read(place, message.data)

        return read

    async def _read(self, place: str, frame: bytes) -> None:
        try:
            received = self._frames.read(place, frame)
        except FrameRefused as refused:
            self._warn(str(refused))
            return
        if received is not None:
            for count, said in enumerate(Messages().split(received.body), 1):
                self._hear_one(received.sender, said)
                if count % _AT_ONCE == 0:
                    await asyncio.sleep(0)

    def _hear_one(self, sender: str, said: bytes | bytearray) -> None:
        try:
            self._hear(sender, unpack(said))
        except Exception:  # What is said wrongly must not end the reading of what follows.
            logger.exception("a message of the fleet cannot be read")

    async def _on_back(self) -> None:
        try:
            await self._declare_stream()
        except (NatsError, OSError, TimeoutError) as error:
            self._warn(f"the bus has no JetStream: {error}")
            return
        self.is_up = True
        self._warned.clear()
        logger.info("the bus is there")
        self._came_up()

    async def _on_away(self) -> None:
        if self.is_up and not self._is_closing:
            logger.warning("the bus is away; calls for workers are refused until it is back")
        self.is_up = False
        if not self._is_closing:
            self._went_away()

    async def _on_closed(self) -> None:
        self.is_up = False
        self._closed.set()

    async def _on_error(self, error: Exception) -> None:
        if not self._is_closing:
            self._warn(f"the bus: {error or type(error).__name__}")

    def _warn(self, text: str) -> None:
        """Log a trouble once, until the connection is made again."""
        if text not in self._warned and len(self._warned) < 100:
            self._warned.add(text)
            logger.warning("%s", text)


class Tickets:
    """The tickets of one queue and pool, one after the other."""

    def __init__(self, subscription: JetStreamContext.PullSubscription) -> None:
        """Take them from a consumer."""
        self._subscription = subscription

    async def next(self) -> Msg | None:
        """Wait for the next ticket; None if there was none for a while.

        Raises:
            BusAway: They have to be asked for anew.
        """
        try:
            (message,) = await self._subscription.fetch(1, timeout=_PULL)
        except TimeoutError:
            return None
        except (NatsError, OSError, ValueError) as error:
            raise BusAway(f"the bus gives no tickets: {error}") from error
        return message

    async def close(self) -> None:
        """Ask for no more."""
        with suppress(Exception):
            await self._subscription.unsubscribe()
