"""A worker of the fleet: takes tickets, claims their calls, and has their tools run.

The connection has a thread and an event loop of its own, so that no tool can hold up the signs of life of the others.
"""

import asyncio
import hashlib
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import uvicorn
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus, BusAway
from sidecall.features.fleet.remote_calls import BEAT
from sidecall.features.fleet.running_call import Post, RunningCall
from sidecall.features.fleet.tool_runner import ToolRun
from sidecall.kernel.concurrency.coroutines import settle
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.process.child import Message
from sidecall.kernel.schema.forms.definitions import hash_definition

logger = logging.getLogger("sidecall.fleet")

# Seconds for a server to answer a claim.
_CLAIM = 2.0
# Seconds until a ticket is given out again whose server has not answered its claim.
_AGAIN = 1.0
# Beats without a word of a server, while the bus is there, after which its calls are ended.
_SILENCE = round(5.0 / BEAT)
# Seconds for which answers are kept that the bus may have lost when it went away, and their bytes.
_KEEP = 5.0
_MOST_KEPT = 64 * 1024 * 1024
_RETRY = 0.1
# Requests for tickets on their way at once: the next is asked for while one comes.
_PULLS = 4
# Seconds for which no ticket is taken from a server itself, after others were seen to wait in the stream.
_BACKLOG = 0.1
# Stands for what a server has not answered.
_UNANSWERED: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class WorkerPlan:
    """What one worker is: its name, its queue, how many calls it runs at once, and its tools."""

    name: str
    queue: str
    slots: int
    tools: Mapping[str, CompiledTool]

    def hash_tools(self) -> dict[str, str]:
        """Return the hashes of all tools' schemas."""
        return {name: hash_definition(tool) for name, tool in self.tools.items()}


def name_pool(hashes: Mapping[str, str]) -> str:
    """Return the name that workers with just these tools share."""
    text = "\n".join(f"{name} {hashes[name]}" for name in sorted(hashes))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(slots=True)
class Held:
    """A ticket that was taken, and the call for which it stands; no `ticket` where a server sent it itself."""

    gateway: str
    call: str
    number: int
    ticket: Msg | None
    granted: "asyncio.Future[Mapping[str, Any] | None]"
    over: "asyncio.Future[None]"
    running: RunningCall | None = None
    run: ToolRun | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from others: an earlier ticket of the same call may be held still."""
        return self.gateway, self.call, self.number


@dataclass(slots=True)
class WorkerCounts:
    """What a worker has done so far, for its metrics."""

    claims: int = 0
    refused: int = 0
    ended: Counter[str] = field(default_factory=Counter)


# Begins a granted call on the event loop of the tools, and calls back from there when it is over.
Begin = Callable[[RunningCall, Callable[[], None]], ToolRun]


class Worker:
    """The bus's side of a worker, for the event loop of its thread."""

    def __init__(self, access: BusAccess, plan: WorkerPlan, tool_loop: asyncio.AbstractEventLoop, begin: Begin):
        """Prepare; the tools run on another event loop.

        Raises:
            KeysUnusable: The library that encrypts is not installed.
        """
        self.plan = plan
        self.counts = WorkerCounts()
        self.is_draining = False
        self._hashes = plan.hash_tools()
        self.pool = name_pool(self._hashes)
        self._bus = Bus(access, self._hear, self._come_up)
        self._tool_loop, self._begin_tool = tool_loop, begin
        self._loop = asyncio.get_running_loop()
        # Slots that are taken, requests for tickets that are on their way, and what wakes those that wait for a slot.
        self._busy = self._asked = 0
        self._freed, self._drained, self._up = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._backlog_until = 0.0
        self._held: dict[tuple[str, str, int], Held] = {}
        self._outbox: asyncio.Queue[tuple[str, bytes, bool]] = asyncio.Queue()
        self._kept: deque[tuple[float, str, bytes]] = deque()
        # Servers that have not been heard since the bus was away, and may lack answers.
        self._owed: set[str] = set()
        self._silence: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._handlers: Mapping[str, Callable[[str, Message], None]] = {
            "who": self._on_who,
            "ticket": self._on_ticket,
            "tools": self._on_tools,
            "grant": self._on_grant,
            "gone": self._on_gone,
            "cancel": self._on_cancel,
            "reply": self._on_reply,
            "more": self._on_more,
            "drain": self._on_drain,
        }

    @property
    def running(self) -> int:
        """How many calls run here."""
        return sum(held.run is not None for held in self._held.values())

    @property
    def is_ready(self) -> bool:
        """Whether it takes calls."""
        return self._bus.is_up and not self.is_draining

    def open(self) -> None:
        """Begin to work."""
        self._bus.open()
        pulling = [self._take() for _ in range(min(self.plan.slots, _PULLS))]
        for work in (*pulling, self._post_all(), self._beat()):
            self._start(work)

    async def drain(self, seconds: float) -> None:
        """Take no more calls, and wait for those that run; end them after so many seconds, and say so."""
        self.is_draining = True
        self._tell(ALL, "here", None, self._describe())
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._held:
                    await asyncio.wait([held.over for held in self._held.values()], timeout=BEAT)
        for held in list(self._held.values()):
            if held.running is not None:
                logger.warning("a call of %s is ended with this worker", held.running.request["home"]["name"])
                self._tell(held.gateway, "lost", held.call, {"n": held.number})
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLAIM):
                await self._outbox.join()

    async def close(self) -> None:
        """Leave the bus."""
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        await self._bus.close()

    async def wait_for_drain(self) -> None:
        """Wait until a person has asked this worker to leave."""
        await self._drained.wait()

    def _describe(self) -> dict[str, Any]:
        plan = self.plan
        state = {"slots": plan.slots, "running": self.running, "draining": self.is_draining, "tools": len(plan.tools)}
        state["free"] = plan.slots - self._busy if self._takes_more() else 0
        return {"role": "worker", "name": plan.name, "queue": plan.queue, "pool": self.pool, **state}

    async def _take(self) -> None:
        """Take one ticket after the other, as long as there is a free slot."""
        while not self.is_draining:
            await self._up.wait()
            try:
                tickets = await self._bus.pull(self.plan.queue, self.pool)
            except BusAway:
                await asyncio.sleep(_RETRY)
                continue
            try:
                while self._up.is_set() and not self.is_draining:
                    await self._take_one(tickets)
            except BusAway:
                await asyncio.sleep(_RETRY)
            finally:
                await tickets.close()

    async def _take_one(self, tickets: Any) -> None:
        while self._busy + self._asked >= self.plan.slots:
            self._freed.clear()
            await self._freed.wait()
        self._asked += 1
        try:
            ticket = await tickets.next()
        finally:
            self._asked -= 1
        if ticket is None:
            return
        if ticket.metadata.num_pending:
            self._backlog_until = time.monotonic() + _BACKLOG
        if self.is_draining or self._busy >= self.plan.slots:
            await _settle(ticket.nak())
            return
        read = self._bus.read_ticket(self.plan.queue, self.pool, ticket.data)
        if read is None or read in self._held:
            await _settle(ticket.ack())
        else:
            self._hold(*read, ticket)

    def _takes_more(self) -> bool:
        """Whether a server may send a ticket itself: not while others wait in the stream, which come first."""
        is_first = time.monotonic() >= self._backlog_until
        return self._busy < self.plan.slots and is_first and not self.is_draining

    def _on_ticket(self, sender: str, said: Message) -> None:
        number = said.content["n"]
        if not self._takes_more():
            self._tell(sender, "busy", said.subject, {"n": number})
        elif (sender, said.subject or "", number) not in self._held:
            self._hold(sender, said.subject or "", number, None)

    def _hold(self, gateway: str, call: str, number: int, ticket: Msg | None) -> None:
        """Take a slot for a call until it is over."""
        self._busy += 1
        held = Held(gateway, call, number, ticket, self._loop.create_future(), self._loop.create_future())
        self._held[held.key] = held
        self._start(self._serve(held))

    async def _serve(self, held: Held) -> None:
        try:
            await self._claim(held)
        finally:
            del self._held[held.key]
            self._busy -= 1
            self._freed.set()

    async def _claim(self, held: Held) -> None:
        """Ask the server of a ticket for its call, and have it run."""
        self.counts.claims += 1
        with suppress(BusAway):
            await self._bus.send(held.gateway, "claim", held.call, {"n": held.number})
        timer = self._loop.call_later(_CLAIM, settle, held.granted, _UNANSWERED)
        request = await held.granted
        timer.cancel()
        if request is _UNANSWERED:
            await self._give_back(held)
            return
        if request is None:
            self.counts.refused += 1
        else:
            await self._run(held, request)
        if held.ticket is not None:
            await _settle(held.ticket.ack())

    async def _give_back(self, held: Held) -> None:
        """Give a ticket back if its server is only slow; drop it if the server is gone."""
        if held.ticket is not None:
            is_heard = self._silence.get(held.gateway, _SILENCE) < _SILENCE
            await _settle(held.ticket.nak(delay=_AGAIN) if is_heard else held.ticket.ack())

    async def _run(self, held: Held, request: Mapping[str, Any]) -> None:
        post = partial(self._post, held.gateway)
        self._tool_loop.call_soon_threadsafe(self._begin_there, held, request, post)
        await held.over
        assert held.run is not None
        self.counts.ended["cancelled" if held.run.is_cancelled else "answered"] += 1
        if held.run.is_cancelled:
            self._tell(held.gateway, "end", held.call, {"n": held.number})

    def _begin_there(self, held: Held, request: Mapping[str, Any], post: Post) -> None:
        """Begin the tool on its event loop."""
        held.running = RunningCall(held.call, held.number, request, post)

        def end() -> None:
            self._loop.call_soon_threadsafe(settle, held.over)

        held.run = self._begin_tool(held.running, end)

    def _post(self, gateway: str, body: bytes, is_answer: bool) -> None:
        """Send a packed message, from any thread."""
        with suppress(RuntimeError):  # The loop has ended.
            self._loop.call_soon_threadsafe(self._outbox.put_nowait, (gateway, body, is_answer))

    def _tell(self, place: str, kind: str, subject: str | None, content: Any) -> None:
        self._start(self._send(place, kind, subject, content))

    async def _send(self, place: str, kind: str, subject: str | None, content: Any) -> None:
        with suppress(BusAway):
            await self._bus.send(place, kind, subject, content)

    async def _post_all(self) -> None:
        """Send what tools say in its order; what the bus does not take is sent when it is back."""
        while True:
            gateway, body, is_kept = await self._outbox.get()
            while True:
                try:
                    await self._bus.send_packed(gateway, body)
                    break
                except BusAway:
                    await asyncio.sleep(_RETRY)
                except ValueError as error:
                    logger.error("an answer is not sent: %s", error)
                    break
            if is_kept:
                self._keep(gateway, body)
            self._outbox.task_done()

    def _keep(self, gateway: str, body: bytes) -> None:
        """Keep for a while what the bus may lose, if it goes away just now."""
        now = time.monotonic()
        if len(body) <= _MOST_KEPT:
            self._kept.append((now, gateway, body))
        size = sum(len(it[2]) for it in self._kept) if len(body) > _MOST_KEPT // 100 else 0
        while self._kept and (self._kept[0][0] < now - _KEEP or size > _MOST_KEPT or len(self._kept) > 10_000):
            size -= len(self._kept.popleft()[2])

    async def _beat(self) -> None:
        """Say for each call that it still runs, and end the calls of servers that are gone."""
        while True:
            await asyncio.sleep(BEAT)
            if not self._bus.is_up:
                self._up.clear()
                continue
            for gateway in list(self._silence):
                self._silence[gateway] += 1
            for held in list(self._held.values()):
                if held.run is not None:
                    await self._send(held.gateway, "beat", held.call, {"n": held.number})
                    if held.ticket is not None:
                        await _settle(held.ticket.in_progress())
                    if self._silence[held.gateway] == _SILENCE:
                        logger.warning("the server %s is gone, and its calls are ended", held.gateway[:8])
                        self._cancel(held)

    def _come_up(self) -> None:
        """Have sent once more what the bus may have lost, as soon as its reader is heard; begin to count anew."""
        for gateway in self._silence:
            self._silence[gateway] = 0
        self._owed = {gateway for _, gateway, _ in self._kept}
        for held in self._held.values():
            if held.running is not None:
                held.running.ask_again()
        self._tell(ALL, "here", None, self._describe())
        self._up.set()

    def _hear(self, sender: str, said: Message) -> None:
        handle = self._handlers.get(said.kind)
        if handle is not None:
            handle(sender, said)

    def _find(self, sender: str, said: Message) -> Held | None:
        return self._held.get((sender, said.subject or "", said.content["n"]))

    def _on_who(self, sender: str, said: Message) -> None:
        if not said.content.get("all"):
            self._silence[sender] = 0
            if sender in self._owed:
                self._owed.discard(sender)
                for _, gateway, body in self._kept:
                    if gateway == sender:
                        self._outbox.put_nowait((gateway, body, False))
        self._tell(sender, "here", None, self._describe())

    def _on_tools(self, sender: str, _said: Message) -> None:
        self._tell(sender, "tools", None, {"pool": self.pool, "tools": self._hashes})

    def _on_grant(self, sender: str, said: Message) -> None:
        held = self._find(sender, said)
        if held is None or held.granted.done():  # It came too late, and its ticket is given back.
            self._tell(sender, "unbegun", said.subject, {"n": said.content["n"]})
            return
        self._silence.setdefault(sender, 0)
        held.granted.set_result(said.content["request"])

    def _on_gone(self, sender: str, said: Message) -> None:
        held = self._find(sender, said)
        if held is not None and not held.granted.done():
            held.granted.set_result(None)

    def _on_cancel(self, sender: str, said: Message) -> None:
        held = self._find(sender, said)
        if held is not None:
            self._cancel(held)

    def _cancel(self, held: Held) -> None:
        if held.run is not None:
            self._tool_loop.call_soon_threadsafe(held.run.cancel)

    def _on_reply(self, sender: str, said: Message) -> None:
        held = self._find(sender, said)
        if held is not None and held.running is not None:
            held.running.take_reply(said.content["id"], said.content["reply"])

    def _on_more(self, sender: str, said: Message) -> None:
        held = self._find(sender, said)
        if held is not None and held.running is not None:
            held.running.take_room(said.content["taken"])

    def _on_drain(self, _sender: str, said: Message) -> None:
        if said.content == self.plan.name:
            logger.info("asked to leave")
            self._drained.set()

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def make_loop() -> asyncio.AbstractEventLoop:
    """Make an event loop as the server has it: the fastest that is installed."""
    factory = uvicorn.Config("", log_config=None).get_loop_factory()
    return asyncio.new_event_loop() if factory is None else factory()


class BusThread:
    """A thread with an event loop for the bus."""

    def __init__(self) -> None:
        """Start it."""
        self.loop = make_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="sidecall-bus", daemon=True)
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine there, and wait for it here."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def close(self) -> None:
        """End it."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _settle(said: Coroutine[Any, Any, Any]) -> None:
    """Say what becomes of a ticket; if the bus is away, its stream is gone anyhow."""
    with suppress(NatsError, OSError, TimeoutError):
        await said
