"""Run tools on the workers of a fleet."""

import asyncio
import itertools
import logging
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus, BusAway
from sidecall.features.fleet.peers import PAUSE, EndsServers, Peers
from sidecall.features.fleet.remote_calls import BEAT, LATE, MISSES, RemoteCall, RemoteCalls, refuse_to_repeat
from sidecall.features.fleet.roster import ALL_TAKEN, Roster
from sidecall.features.fleet.waiting_calls import WaitingCalls
from sidecall.features.processes.child import Message, unpack
from sidecall.features.processes.failures import raise_failure
from sidecall.features.processes.output import read_output
from sidecall.features.processes.request import bounds_of, write_request
from sidecall.features.processes.server_requests import reply_to
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.overload import CallRefused, NoWorker
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy

logger = logging.getLogger("sidecall.fleet")

# Seconds between two questions to all workers how they are.
_ASK = 1.0
_HOUR = 3600.0
# Seconds after which a ticket that the bus has not taken is put again, for each so many that wait.
_AGAIN, _MANY = 0.1, 500
# Looks for a worker that is late, after which it is gone.
_LOOKS = 2


# Called with the names of the tools that have a worker, when they change.
Tell = Callable[[frozenset[str]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetBounds:
    """How long calls wait for a worker, in seconds, how many may, and the most bytes of structured results."""

    queue_timeout: float
    max_waiting: int
    max_result_bytes: int | None


class FleetExecutor:
    """Holds calls until workers claim, run and answer them.

    This process alone says who may begin a call, and whether an attempt still counts: the bus only carries.
    """

    def __init__(
        self,
        access: BusAccess,
        name: str,
        bounds: FleetBounds,
        tell: Tell,
        store: EndsServers | None = None,
    ) -> None:
        """Prepare for a bus; nothing is opened yet.

        Args:
            access: Where it is, and what encrypts.
            name: By what people know this process.
            bounds: How long calls wait, and how many.
            tell: Called when other tools are available.
            store: Where other servers know this one, if they share a database.

        Raises:
            KeysUnusable: The library that encrypts is not installed.
        """
        self.name = name
        self.roster = Roster(self._note_change)
        # Attempts that were lost with their workers, and calls that were given out again.
        self.lost = self.repeated = 0
        self._bus = Bus(access, self._hear, self._come_up, self._note_change)
        self._bounds, self._tell_available = bounds, tell
        self._peers = None if store is None else Peers(store, self._bus.is_there)
        self._tools: dict[str, CompiledTool] = {}
        self._available: frozenset[str] = frozenset()
        self._numbers = itertools.count(1)
        self._calls = RemoteCalls()
        self._lines = WaitingCalls(self._give)
        # Workers that are late and not on the bus, by how often that was found.
        self._absent: Counter[str] = Counter()
        self._losses: deque[float] = deque(maxlen=100_000)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._handlers = {
            "here": self._on_here,
            "tools": self._on_tools,
            "who": self._on_who,
            "claim": self._on_claim,
            "unbegun": self._on_unbegun,
            "beat": self._on_beat,
            "event": self._on_event,
            "answer": self._on_event,
            "ask": self._on_ask,
            "lost": self._on_lost,
            "end": self._on_end,
            "ended": self._on_ended,
        }

    @property
    def occupancy(self) -> Occupancy:
        """How many calls run on workers, and how many wait for one."""
        busy, waiting = self._calls.occupancy
        return Occupancy(busy=busy, waiting=waiting)

    @property
    def is_up(self) -> bool:
        """Whether the bus can be reached."""
        return self._bus.is_up

    def count(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return how many calls of each queue wait, and how many run; queues without calls are left out."""
        return self._calls.count()

    def count_workers(self) -> dict[str, float]:
        """Return how many workers of each queue take calls."""
        return dict(Counter(worker.queue for worker in self.roster.workers.values() if not worker.is_draining))

    def list_queues(self) -> frozenset[str]:
        """List the queues of its tools."""
        return frozenset(it.options.queue or "" for it in self._tools.values())

    def find_oldest(self) -> dict[str, float]:
        """Return for how many seconds the oldest call of each queue waits; 0 where all run."""
        return self._calls.find_oldest()

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Begin to connect to the bus; it need not be there yet."""
        self.follow(tools)
        if not self._tasks:
            self._bus.open()
            self._begin(self._ask_workers())
            self._begin(self._watch())
            self._begin(self._watch_peers())

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Note which tools run here; workers load theirs themselves."""
        self._tools = {tool.name: tool for tool in tools}
        self._note_change()

    def _note_change(self) -> None:
        """Look which tools have a worker now, and tell where others had one before."""
        is_up = self._bus.is_up
        fits = self.roster.find_pool
        now = frozenset(name for name, tool in self._tools.items() if is_up and fits(tool) is not None)
        if now != self._available:
            self._available = now
            self.roster.forget()
            self._tell_available(now)

    async def run(self, invocation: Invocation) -> Any:
        """Run the call on a worker, and raise here what it raises there.

        Raises:
            CallRefused: No worker has begun it.
            WorkerGone: Its worker ended, and it must not run twice.
            Poison: It has ended too many workers.
        """
        call = self._open(invocation)
        try:
            answer = await self._find_answer(call)
        except BaseException:
            self._leave(call)
            raise
        finally:
            self._calls.remove(call)
        raise_failure(answer)
        return read_output(invocation.tool, answer, invocation.call.id)

    async def close(self) -> None:
        """Leave the bus."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._bus.close()

    def _open(self, invocation: Invocation) -> RemoteCall:
        if not self._bus.is_up:
            raise CallRefused("The bus of the fleet cannot be reached just now; the call has not begun.")
        call = RemoteCall(invocation)
        if self._calls.waiting[call.queue] >= self._bounds.max_waiting:
            raise CallRefused(f"As many calls wait for a worker of the queue {call.queue!r} as may.")
        self._calls.add(call)
        return call

    async def _find_answer(self, call: RemoteCall) -> Mapping[str, Any]:
        stop = time.monotonic() + self._bounds.queue_timeout
        while True:
            await self._find_worker(call, stop)
            self._grant(call)
            assert call.outcome is not None
            answer = await call.outcome
            if answer is not None:
                self.roster.find(call.worker).note_answer()
                self._lines.move()
                return answer
            if call.names:  # It has begun, and waits anew.
                refuse_to_repeat(call)
                stop = time.monotonic() + self._bounds.queue_timeout
            self.repeated += 1

    async def _find_worker(self, call: RemoteCall, stop: float) -> None:
        """Give the call to a worker that has a free slot, or soon has; without one, put its ticket into the stream.

        Another ticket is put, again and again, until one has claimed it.

        Raises:
            NoWorker: None has in time.
            WorkerGone: The same, after a worker has begun and ended.
        """
        while (left := stop - time.monotonic()) > 0:
            pool = self.roster.find_pool(call.invocation.tool) if self._bus.is_up else None
            if pool is None:
                await self.roster.wait(left)
                continue
            if not self._lines.has(call) and self._give(call):
                return
            if self._calls.moves(call.queue) and await self._lines.wait(call, left):
                return
            claimed = call.wait_for_claim(next(self._numbers), pool)
            await self._put_ticket(call, pool, left)
            timer = asyncio.get_running_loop().call_later(left, call.put_again)
            try:
                if await claimed:
                    return
            finally:
                timer.cancel()
        call.number = 0  # No ticket counts any more.
        self._refuse(call)

    def _give(self, call: RemoteCall) -> bool:
        """Give the call to a worker that has a free slot; return False if none has, or others are in the stream."""
        worker = None if self._calls.queued[call.queue] else self.roster.take_free(call.invocation.tool)
        if worker is None:
            return False
        call.give_to(worker, self.roster.find(worker).name, next(self._numbers))
        return True

    async def _put_ticket(self, call: RemoteCall, pool: str, left: float) -> None:
        """Put a ticket into the stream."""
        call.note_queued(is_queued=True)
        try:
            await self._bus.put_ticket(call.queue, pool, call.invocation.id, call.number)
        except BusAway:
            # The more wait the later, so that all of them together do not keep the bus busy.
            await asyncio.sleep(min(left, _AGAIN * (1 + self._calls.waiting[call.queue] // _MANY)))
            call.put_again()

    def _refuse(self, call: RemoteCall) -> None:
        refuse_to_repeat(call)
        if not self._bus.is_up:
            raise NoWorker("The bus of the fleet went away before a worker took the call; the call has not begun.")
        raise NoWorker(self.roster.explain_wait(call.invocation.tool, self._bounds.queue_timeout, call.names))

    def _leave(self, call: RemoteCall) -> None:
        """End a call that is no longer awaited; the tool keeps its place until its code runs no more."""
        if call.worker is None:
            return
        if call.is_granted and not call.is_answered:
            call.release = call.invocation.abandon()
            self._calls.leave(call)
        else:
            self._free(call)
        if not call.is_answered:
            self._say(call.worker, "cancel" if call.is_granted else "gone", call.invocation.id, call.number)

    def _end(self, call: RemoteCall) -> None:
        self._calls.forget(call)
        if call.release is not None:
            self._free(call)
            call.release()

    def _free(self, call: RemoteCall) -> None:
        """Note that the slot of a call is free."""
        self.roster.find(call.worker).change_free(1)
        self._lines.move()

    async def _ask_workers(self) -> None:
        while True:
            if self._bus.is_up:
                for worker in self.roster.miss():
                    logger.warning("the worker %s of the queue %s is gone", worker.name, worker.queue)
                self._bus.send(ALL, "who", None, {"owner": None if self._peers is None else self._peers.owner})
            else:
                self.roster.forgive()
            await asyncio.sleep(_ASK)

    async def _watch_peers(self) -> None:
        """Find the servers of the same database that are gone."""
        while self._peers is not None:
            await asyncio.sleep(PAUSE)
            if self._bus.is_up:
                await self._peers.look()

    async def _watch(self) -> None:
        """Find the attempts whose workers are gone, and the tickets that no worker will find."""
        while True:
            await asyncio.sleep(BEAT)
            served, late = self.roster.list_served(), set[str]()
            for call in self._calls:
                if not self._bus.is_up:
                    call.misses = 0
                elif call.worker is not None:
                    self._count_miss(call)
                    if call.misses >= LATE:
                        late.add(call.worker or "")
                elif call.pool is not None and (call.queue, call.pool) not in served:
                    call.put_again()
            self._absent = Counter({worker: self._absent[worker] for worker in late})
            for worker in late:
                self._begin(self._look_for(worker))

    async def _look_for(self, worker: str) -> None:
        """Lose the calls of a worker that is late, if nothing listens at its place on the bus."""
        if await self._bus.is_there(worker):
            self._absent[worker] = 0
            return
        self._absent[worker] += 1
        if self._absent[worker] >= _LOOKS:
            for call in self._calls:
                if call.worker == worker and call.misses >= LATE:
                    self._lose(call)

    def _count_miss(self, call: RemoteCall) -> None:
        call.misses += 1
        if call.misses > MISSES:
            self._lose(call)
        elif call.worker is not None and not call.is_heard:
            self._say(call.worker, "held", call.invocation.id, call.number)
        if call.release is not None and call.worker is not None:
            self._say(call.worker, "cancel", call.invocation.id, call.number)

    def _lose(self, call: RemoteCall) -> None:
        logger.warning("the worker %s is lost with a call of %s", call.names[-1], call.invocation.tool.name)
        self.lost += 1
        self._losses.append(time.monotonic())
        self.roster.find(call.worker).doubt()
        call.lose()
        if call.release is not None:
            self._end(call)

    def _come_up(self) -> None:
        """Put all tickets again: a stream in memory is gone with its bus."""
        for call in self._calls.awaited:
            call.misses = 0
            if call.worker is None:
                call.put_again()
        self.roster.forgive()
        self._note_change()

    def _hear(self, sender: str, said: Message) -> None:
        handle = self._handlers.get(said.kind)
        if handle is not None:
            handle(sender, said)

    def _find(self, sender: str, said: Message) -> RemoteCall | None:
        """Return the call that a worker's message is about; None where its attempt no longer counts."""
        call = self._calls.find(said.subject or "")
        return call if call is not None and call.is_of(sender, said.content["n"]) else None

    def _on_here(self, sender: str, said: Message) -> None:
        if said.content.get("role") == "worker" and self.roster.note(sender, said.content):
            self._say(sender, "tools", None, None)
        self._lines.move()

    def _on_tools(self, _sender: str, said: Message) -> None:
        self.roster.note_tools(said.content["pool"], said.content["tools"])

    def _on_who(self, sender: str, said: Message) -> None:
        """Answer a person who asks for all; of other servers, which ask for workers, note that they are there."""
        owner = said.content.get("owner")
        if owner is not None and self._peers is not None:
            self._peers.note(sender, owner)
        elif said.content.get("all"):
            waiting, running = self.count()
            since = time.monotonic() - _HOUR
            counts = {"waiting": waiting, "running": running, "lost": sum(it > since for it in self._losses)}
            self._tell(sender, "here", None, {"role": "gateway", "name": self.name, **counts})

    def _on_claim(self, sender: str, said: Message) -> None:
        number = said.content["n"]
        call = self._calls.find_awaited(said.subject or "")
        if call is None or not call.claim(sender, self.roster.find(sender).name, number):
            self._say(sender, "gone", said.subject, number)
        else:
            self.roster.find(sender).change_free(-1)
            self._lines.move()  # It may have been the last in the stream.

    def _take_back(self, call: RemoteCall) -> None:
        """Have a call given out again that has not begun; its worker gets none until it is heard of again."""
        self.roster.find(call.worker).change_free(ALL_TAKEN)
        call.lose(has_begun=False)
        self._calls.forget(call)
        if call.release is not None:
            call.release()

    def _grant(self, call: RemoteCall) -> None:
        """Give a worker all that it needs for a call; the deadline as seconds left, since clocks differ."""
        invocation, number, worker = call.invocation, call.number, call.worker
        if worker is None:
            return
        if not self._bus.is_up:
            call.lose(has_begun=False)
            return
        home = {"name": invocation.tool.name, "module": "", "file": None}
        bounds = bounds_of(invocation.tool, self._bounds.max_result_bytes)
        try:
            request = write_request(invocation, home, 0, bounds)  # type: ignore[arg-type]
            left = None if invocation.deadline is None else max(0.0, invocation.deadline - time.monotonic())
            self._bus.send(worker, "grant", invocation.id, {"n": number, "request": {**request, "deadline": left}})
        except ValueError as error:
            raise ToolException(f"Error: the call cannot be sent to a worker: {error}") from None
        call.is_granted = True  # From here on it may have begun.

    def _on_unbegun(self, sender: str, said: Message) -> None:
        call = self._find(sender, said)
        if call is not None:
            self._take_back(call)

    def _on_beat(self, sender: str, said: Message) -> None:
        call = self._find(sender, said)
        if call is None:  # It runs for nobody.
            self._say(sender, "cancel", said.subject, said.content["n"])
        else:
            call.misses, call.is_heard = 0, True

    def _on_event(self, sender: str, said: Message) -> None:
        call = self._find(sender, said)
        if call is None:
            return
        call.misses, call.is_heard = 0, True
        if call.release is not None:
            if said.kind == "answer":  # The worker had finished before the cancel reached it.
                self._end(call)
            return
        if said.kind == "answer" and not call.is_reading:
            call.settle(said.content["answer"])
            return
        call.add_event(said.kind, said.content)
        if not call.is_reading:
            call.is_reading = True
            call.context.run(self._begin, call.read_events(self._tell))

    def _on_ask(self, sender: str, said: Message) -> None:
        call = self._find(sender, said)
        if call is not None:
            self._begin(self._reply(call, sender, said.content))

    async def _reply(self, call: RemoteCall, worker: str, asked: Mapping[str, Any]) -> None:
        reply = unpack(await reply_to(call.invocation, asked["question"])).content
        self._tell(worker, "reply", call.invocation.id, {"n": asked["n"], "id": asked["id"], "reply": reply})

    def _on_lost(self, sender: str, said: Message) -> None:
        call = self._find(sender, said)
        if call is not None:
            self._lose(call)

    def _on_end(self, sender: str, said: Message) -> None:
        call = self._find(sender, said)
        if call is not None and call.release is not None:
            self._end(call)

    def _on_ended(self, _sender: str, said: Message) -> None:
        """Take back what a worker that has ended had not begun, and lose the rest; it or its reporter says which."""
        worker, begun = said.content["worker"], said.content["begun"].get(self._bus.id, ())
        # Numbers grow, so that those which are not listed any more are lower.
        least = 0 if said.content["is_all"] else min(begun, default=math.inf)
        for call in self._calls:
            if call.worker == worker:
                if call.number in begun or call.number < least:
                    self._lose(call)
                else:
                    self._take_back(call)
        self.roster.remove(worker)

    def _say(self, worker: str, kind: str, subject: str | None, number: int | None) -> None:
        self._tell(worker, kind, subject, {"n": number})

    def _tell(self, worker: str, kind: str, subject: str | None, content: Any) -> None:
        self._bus.send(worker, kind, subject, content)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
