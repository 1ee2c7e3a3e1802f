"""A worker of the fleet: takes tickets, claims their calls, and has their tools run.

The connection has a thread and an event loop of its own, so that no tool can hold up the signs of life of the others.
"""

import asyncio
import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import uvicorn
from nats.errors import Error as NatsError

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus, BusAway
from sidecall.features.fleet.claimed_calls import ClaimedCall, ClaimedCalls
from sidecall.features.fleet.crash_reporter import BegunCalls
from sidecall.features.fleet.handover import Handover
from sidecall.features.fleet.outbox import Outbox
from sidecall.features.fleet.remote_calls import BEAT
from sidecall.features.fleet.running_call import RunningCall
from sidecall.features.fleet.tool_runner import Answered, ToolRun
from sidecall.features.processes.child import Message
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import hash_definition

logger = logging.getLogger("sidecall.fleet")

# Seconds for a server to answer a claim.
_CLAIM = 2.0
# Seconds until a ticket is given out again whose server has not answered its claim.
_AGAIN = 1.0
# Beats without a word of a server, while the bus is there, after which its calls are ended.
_SILENCE = round(5.0 / BEAT)
_RETRY = 0.1
# Requests for tickets on their way at once: the next is asked for while one comes.
_PULLS = 4
# Seconds beyond its deadline after which a call is ended here, should its server not say so.
_BEYOND = 0.5
# Seconds for which no ticket is taken from a server itself, after others were seen to wait in the stream.
_BACKLOG = 0.1


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
class WorkerCounts:
    """What a worker has done so far, for its metrics."""

    claims: int = 0
    refused: int = 0
    ended: Counter[str] = field(default_factory=Counter)


# Begins a granted call on the event loop of the tools, and calls back from there with its answer and when it is over.
Begin = Callable[[RunningCall, Answered, Callable[[], None]], ToolRun]


class Worker:
    """The bus's side of a worker, for the event loop of its thread."""

    def __init__(
        self, access: BusAccess, plan: WorkerPlan, tool_loop: asyncio.AbstractEventLoop, begin: Begin, begun: BegunCalls
    ) -> None:
        """Prepare; the tools run on another event loop, and what begins there is noted.

        Raises:
            KeysUnusable: The library that encrypts is not installed.
        """
        self.plan = plan
        self.counts = WorkerCounts()
        self.is_draining = False
        self._hashes = plan.hash_tools()
        self.pool = name_pool(self._hashes)
        self._bus = Bus(access, self._hear, self._come_up)
        self._begin_tool, self._begun = begin, begun
        self._there, self._here = Handover(tool_loop), Handover(asyncio.get_running_loop())
        begun.introduce(self._bus.id)
        self._loop = asyncio.get_running_loop()
        # Slots that are taken, requests for tickets that are on their way, and what wakes those that wait for a slot.
        self._busy = self._asked = 0
        self._freed, self._drained, self._up = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._backlog_until = 0.0
        self._calls = ClaimedCalls()
        self._outbox = Outbox(self._bus)
        self._silence: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._handlers: Mapping[str, Callable[[str, Message], None]] = {
            "who": self._on_who,
            "tools": self._on_tools,
            "grant": self._on_grant,
            "gone": self._on_gone,
            "held": self._on_held,
            "cancel": self._on_cancel,
            "reply": self._on_reply,
            "more": self._on_more,
            "drain": self._on_drain,
        }

    @property
    def running(self) -> int:
        """How many calls run here."""
        return sum(held.is_begun for held in self._calls)

    @property
    def is_ready(self) -> bool:
        """Whether it takes calls."""
        return self._bus.is_up and not self.is_draining

    def open(self) -> None:
        """Begin to work."""
        self._bus.open()
        pulling = [self._take() for _ in range(min(self.plan.slots, _PULLS))]
        for work in (*pulling, self._beat()):
            self._start(work)

    async def drain(self, seconds: float) -> None:
        """Take no more calls, and wait for those that run; end them after so many seconds, and say so."""
        self.is_draining = True
        self._tell(ALL, "here", None, self._describe())
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._calls.held:
                    self._freed.clear()
                    await self._freed.wait()
        for held in self._calls:
            if held.running is not None:
                logger.warning("a call of %s is ended with this worker", held.running.request["home"]["name"])
                self._tell(held.server, "lost", held.call, {"n": held.number})
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLAIM):
                await self._bus.wait_until_sent()

    async def close(self) -> None:
        """Leave the bus, after saying which calls had begun: a server may just have given another."""
        self._bus.send(ALL, "ended", None, self._begun.tell())
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
        is_full = self._busy >= self.plan.slots
        waits = is_full or bool(ticket.metadata.num_pending)
        self._backlog_until = time.monotonic() + _BACKLOG if waits else 0.0
        if self.is_draining or is_full:
            await _settle(ticket.nak())
            return
        read = self._bus.read_ticket(self.plan.queue, self.pool, ticket.data)
        if read is None or (read[0], read[2]) in self._calls.held:
            await _settle(ticket.ack())
        else:
            self._claim(ClaimedCall(*read, ticket))

    def _takes_more(self) -> bool:
        """Whether a server may give a call itself: not while others wait in the stream, which come first."""
        is_first = time.monotonic() >= self._backlog_until
        return self._busy < self.plan.slots and is_first and not self.is_draining

    def _hold(self, held: ClaimedCall) -> None:
        """Take a slot for a call until it is over."""
        self.counts.claims += 1
        self._busy += 1
        self._calls.add(held)

    def _release(self, held: ClaimedCall, *, is_taken: bool = True) -> None:
        """Free the slot of a call, and take its ticket out of the stream."""
        self._calls.remove(held)
        held.running = held.run = None  # Which know the call: it would be left to the garbage collector.
        self._busy -= 1
        self._freed.set()
        if held.ticket is not None and is_taken:
            self._start(_settle(held.ticket.ack()))

    def _claim(self, held: ClaimedCall) -> None:
        """Ask the server of a ticket for its call."""
        self._hold(held)
        held.timer = self._loop.call_later(_CLAIM, self._give_back, held)
        self._tell(held.server, "claim", held.call, {"n": held.number})

    def _give_back(self, held: ClaimedCall) -> None:
        """Give a ticket back if its server is only slow; drop it if the server is gone."""
        is_heard = self._silence.get(held.server, _SILENCE) < _SILENCE
        self._release(held, is_taken=not is_heard)
        if is_heard and held.ticket is not None:
            self._start(_settle(held.ticket.nak(delay=_AGAIN)))

    def _begin(self, held: ClaimedCall, request: Mapping[str, Any]) -> None:
        self._silence.setdefault(held.server, 0)
        held.is_begun, held.timer = True, None
        left = request["deadline"]
        if left is not None:
            held.stop = time.monotonic() + left + _BEYOND
        self._there.call(self._begin_there, held, request)

    def _begin_there(self, held: ClaimedCall, request: Mapping[str, Any]) -> None:
        """Begin the tool on its event loop."""
        begin = partial(self._begun.note, held.server, held.number)
        held.running = RunningCall(held.call, held.number, request, partial(self._post, held.server), begin)

        def answer(body: bytes, is_over: bool) -> None:
            self._here.call(self._answer, held, body, is_over)

        def end() -> None:
            self._here.call(self._end, held)

        held.run = self._begin_tool(held.running, answer, end)

    def _answer(self, held: ClaimedCall, body: bytes, is_over: bool) -> None:
        self._outbox.put(held.server, body, is_kept=True)
        if is_over:
            self._end(held)

    def _end(self, held: ClaimedCall) -> None:
        """Note that no code of a tool runs any more."""
        assert held.run is not None
        self.counts.ended["cancelled" if held.run.is_cancelled else "answered"] += 1
        if held.run.is_cancelled:
            self._tell(held.server, "end", held.call, {"n": held.number})
        self._release(held)

    def _post(self, server: str, body: bytes) -> None:
        """Send a packed message, from any thread."""
        self._here.call(self._outbox.put, server, body)

    def _tell(self, place: str, kind: str, subject: str | None, content: Any) -> None:
        self._bus.send(place, kind, subject, content)

    async def _beat(self) -> None:
        """Say for each call that it still runs, and end the calls of servers that are gone."""
        while True:
            await asyncio.sleep(BEAT)
            self._end_overdue()
            if not self._bus.is_up:
                self._up.clear()
                continue
            for gateway in list(self._silence):
                self._silence[gateway] += 1
            for held in self._calls:
                if held.is_begun:
                    self._tell(held.server, "beat", held.call, {"n": held.number})
                    if held.ticket is not None:
                        await _settle(held.ticket.in_progress())
                    if self._silence[held.server] == _SILENCE:
                        logger.warning("the server %s is gone, and its calls are ended", held.server[:8])
                        self._cancel(held)

    def _end_overdue(self) -> None:
        """End the calls whose servers do not say that their deadline has passed."""
        now = time.monotonic()
        for held in self._calls:
            if held.stop < now:
                self._cancel(held)

    def _come_up(self) -> None:
        """Have sent once more what the bus may have lost, as soon as its reader is heard; begin to count anew."""
        for gateway in self._silence:
            self._silence[gateway] = 0
        self._outbox.note_return()
        for held in self._calls:
            if held.running is not None:
                held.running.ask_again()
        self._tell(ALL, "here", None, self._describe())
        self._up.set()

    def _hear(self, sender: str, said: Message) -> None:
        self._outbox.note_heard(sender)
        handle = self._handlers.get(said.kind)
        if handle is not None:
            handle(sender, said)

    def _find(self, sender: str, said: Message) -> ClaimedCall | None:
        return self._calls.held.get((sender, said.content["n"]))

    def _on_who(self, sender: str, said: Message) -> None:
        if not said.content.get("all"):
            self._silence[sender] = 0
        self._tell(sender, "here", None, self._describe())

    def _on_tools(self, sender: str, _said: Message) -> None:
        self._tell(sender, "tools", None, {"pool": self.pool, "tools": self._hashes})

    def _on_grant(self, sender: str, said: Message) -> None:
        """Begin a call that was claimed, or that its server gives since this worker has told of a free slot."""
        number, held = said.content["n"], self._find(sender, said)
        if held is None:
            if not (self._takes_more() and self._calls.may_begin(sender, number)):
                self._refuse(sender, said)
                return
            held = ClaimedCall(sender, said.subject or "", number)
            self._hold(held)
        elif held.timer is None:
            return
        else:
            held.timer.cancel()
        self._begin(held, said.content["request"])

    def _refuse(self, sender: str, said: Message) -> None:
        """Say that a call has not begun, where that is sure; it will not then."""
        number = said.content["n"]
        if self._calls.refuse(sender, number):
            self._tell(sender, "unbegun", said.subject, {"n": number})

    def _on_held(self, sender: str, said: Message) -> None:
        self._refuse(sender, said)

    def _on_gone(self, sender: str, said: Message) -> None:
        held = self._find(sender, said)
        if held is not None and held.timer is not None:
            held.timer.cancel()
            self.counts.refused += 1
            self._release(held)

    def _on_cancel(self, sender: str, said: Message) -> None:
        held = self._find(sender, said)
        if held is not None:
            self._cancel(held)
        elif self._calls.has_ended(sender, said.content["n"]):  # What its server may not have heard.
            self._tell(sender, "end", said.subject, {"n": said.content["n"]})

    def _cancel(self, held: ClaimedCall) -> None:
        self._there.call(_cancel_there, held)

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


def _cancel_there(held: ClaimedCall) -> None:
    run = held.run  # The other thread may forget it at any time.
    if run is not None:
        run.cancel()


async def _settle(said: Coroutine[Any, Any, Any]) -> None:
    """Say what becomes of a ticket; if the bus is away, its stream is gone anyhow."""
    with suppress(NatsError, OSError, TimeoutError):
        await said
