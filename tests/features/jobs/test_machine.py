"""The ledger's calls against a model of them, with servers that end at any moment."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.records import Acceptance, CallCompletion
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.jobs.state_machine import TRANSITIONS
from sidecall.kernel.core.invocation import CallRequest, new_invocation_id
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.ports.call_entry import OPEN, CallFilter, CallStatus
from sidecall.storage.sqlite.database import SqliteDatabase

T = TypeVar("T")
OWNERS = ("ann", "bob", "cid")
FAR = 9e9
owners = st.sampled_from(OWNERS)
# Which of the calls there are, and whether the writer knows its last attempt.
places = st.integers(min_value=0, max_value=30)
staleness = st.sampled_from([0, 0, 0, 1, -1])


@dataclass(frozen=True)
class Known:
    """What has to be known of a call."""

    status: str
    attempt: int = 0
    owner: str | None = None
    message: str | None = None


def end(text: str, status: Any = "succeeded") -> CallCompletion:
    """Make an end that can be told from others."""
    return CallCompletion(status, None, ToolMessage(content=text, tool_call_id="1", name="tool"))


class Ledgers(RuleBasedStateMachine):
    """Calls are accepted, claimed, held and ended by servers of which any may end, or be taken for ended."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.database = SqliteDatabase()
        self.run(self.database.open())
        self.calls, self.queue = SqlCalls(self.database), SqlCallQueue(self.database)
        self.known: dict[str, Known] = {}
        self.keys: dict[str, str] = {}
        self.ends = 0
        self.before: dict[str, CallStatus] = {}

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out a step."""
        return self.runner.run(work)

    async def write(self, statement: str, *values: Any) -> None:
        """Carry out a statement, on the event loop."""
        await self.database.write(statement, *values)

    def teardown(self) -> None:
        """Close everything."""
        self.run(self.database.close())
        self.runner.close()

    def choose(self, place: int) -> str:
        """Choose a call."""
        return list(self.known)[place % len(self.known)]

    def make_end(self, status: str = "succeeded") -> CallCompletion:
        """Make an end that no other call has."""
        self.ends += 1
        return end(f"end {self.ends}", status)

    @rule(owner=st.none() | owners, key=st.none() | st.sampled_from("xyz"))
    def accept(self, owner: str | None, key: str | None) -> None:
        """One with a key that is known is not accepted a second time."""
        record = CallRecord.of(CallRequest(ToolCall(name="tool", args={}, id="1")), new_invocation_id())
        sent = None if key is None else CallKey(key, "same", FAR)
        accepted = self.run(self.calls.accept(record, Acceptance(owner, None, sent)))
        assert (accepted is None) == (key in self.keys)
        if accepted is None:
            assert sent is not None
            found = self.run(self.calls.find(sent))
            assert found is not None
            assert found.id == self.keys[str(key)]
            return
        self.known[record.id] = Known("queued") if owner is None else Known("running", 1, owner)
        if owner is None:
            self.queue.note(record.id, "default", "anonymous")
        if key is not None:
            self.keys[key] = record.id

    @rule(key=st.none() | st.sampled_from("xyz"))
    def record(self, key: str | None) -> None:
        """A call that is remembered with its end is one of those that have ended."""
        record = CallRecord.of(CallRequest(ToolCall(name="tool", args={}, id="1")), new_invocation_id())
        sent, ended = None if key is None else CallKey(key, "same", FAR), self.make_end()
        accepted = self.run(self.calls.record(record, Acceptance("ann", None, sent), ended))
        assert (accepted is None) == (key in self.keys)
        if accepted is not None:
            self.known[record.id] = Known("succeeded", 1, message=str(ended.message.content))
            if key is not None:
                self.keys[key] = record.id

    @rule(owner=owners, most=st.integers(min_value=1, max_value=3))
    def claim(self, owner: str, most: int) -> None:
        """Each queued call goes to one server, as its next attempt."""
        claimed = self.run(self.queue.claim(owner, most))
        queued = [call_id for call_id, known in self.known.items() if known.status == "queued"]
        assert len(claimed) == min(most, len(queued))
        for one in claimed:
            known = self.known[one.record.id]
            assert (known.status, one.attempt) == ("queued", known.attempt + 1)
            self.known[one.record.id] = Known("running", one.attempt, owner)

    @precondition(lambda self: self.known)
    @rule(place=places, stale=staleness)
    def finish(self, place: int, stale: int) -> None:
        """Only the last attempt is heard, and only while it runs."""
        call_id = self.choose(place)
        known, ended = self.known[call_id], self.make_end()
        is_heard = self.run(self.calls.finish(call_id, known.attempt + stale, ended)) is not None
        assert is_heard == (known.status == "running" and stale == 0)
        if is_heard:
            self.known[call_id] = replace(known, status="succeeded", message=str(ended.message.content))

    @precondition(lambda self: self.known)
    @rule(place=places, stale=staleness, hold=st.booleans())
    def put_aside(self, place: int, stale: int, hold: bool) -> None:
        """A running call is queued again, or waits for a person."""
        call_id = self.choose(place)
        known = self.known[call_id]
        if hold:
            self.run(self.calls.hold(call_id, known.attempt + stale, f"approval of {call_id}"))
        else:
            self.run(self.calls.release(call_id, known.attempt + stale))
            self.queue.look_again()
        if known.status == "running" and stale == 0:
            self.known[call_id] = Known("awaiting_approval" if hold else "queued", known.attempt)

    @precondition(lambda self: self.known)
    @rule(place=places)
    def settle(self, place: int) -> None:
        """What a person decides ends a call that waits for it, and no other."""
        call_id = self.choose(place)
        known, ended = self.known[call_id], self.make_end("expired")
        is_heard = self.run(self.calls.finish(call_id, None, ended)) is not None
        assert is_heard == (known.status == "awaiting_approval")
        if is_heard:
            self.known[call_id] = replace(known, status="expired", message=str(ended.message.content))

    @precondition(lambda self: self.known)
    @rule(place=places)
    def cancel(self, place: int) -> None:
        """A queued call ends at once; the server of one that runs is asked."""
        call_id = self.choose(place)
        known, ended = self.known[call_id], self.make_end("cancelled")
        is_heard = self.run(self.queue.cancel(call_id, ended))
        assert is_heard == (known.status in ("queued", "running"))
        if known.status == "queued":
            self.known[call_id] = replace(known, status="cancelled", message=str(ended.message.content))
        elif known.owner is not None and known.status == "running":
            assert call_id in self.run(self.queue.list_cancelled(known.owner))

    @precondition(lambda self: self.known)
    @rule(place=places, stale=staleness)
    def forget(self, place: int, stale: int) -> None:
        """A call that was refused is gone, and its key is free."""
        call_id = self.choose(place)
        known = self.known[call_id]
        self.run(self.calls.forget(call_id, known.attempt + stale))
        if known.status == "running" and stale == 0:
            del self.known[call_id]
            self.keys = {key: one for key, one in self.keys.items() if one != call_id}

    @rule(crashed=owners, repeats=st.booleans(), others=st.permutations(OWNERS))
    def crash(self, crashed: str, repeats: bool, others: list[str]) -> None:
        """What a server ran that has ended is queued again or has an unknown outcome; others go on."""
        for owner in others:
            said = ("forget_server", owner) if owner == crashed else ("register_server", owner, 1.0)
            self.run(self.write(*said))
        lost = self.run(self.queue.list_lost(0.0, ""))
        ran = {call_id: known.attempt for call_id, known in self.known.items() if known.owner == crashed}
        ran = {call_id: attempt for call_id, attempt in ran.items() if self.known[call_id].status == "running"}
        assert {one.id: one.attempt for one in lost} == ran
        for one in lost:
            if repeats:
                self.run(self.calls.release(one.id, one.attempt))
                self.queue.look_again()
                self.known[one.id] = Known("queued", one.attempt)
            else:
                ended = self.make_end("outcome_unknown")
                assert self.run(self.calls.finish(one.id, one.attempt, ended)) is not None
                self.known[one.id] = Known("outcome_unknown", one.attempt, None, str(ended.message.content))

    @rule(owner=owners)
    def look_for_orphans(self, owner: str) -> None:
        """A server finds what it should run and does not."""
        own = [call_id for call_id, known in self.known.items() if (known.status, known.owner) == ("running", owner)]
        runs = set(own[::2])
        assert {one.id for one in self.run(self.queue.list_orphans(owner, runs.__contains__))} == set(own) - runs

    @invariant()
    def changes_as_it_may(self) -> None:
        """Each status follows from the one before."""
        after: dict[str, CallStatus] = {
            entry.id: entry.status for entry in self.run(self.calls.list(CallFilter("default"), 1000)).calls
        }
        for call_id in self.before.keys() | after.keys():
            before, now = self.before.get(call_id), after.get(call_id)
            assert before == now or now in TRANSITIONS[before]
        self.before = after

    @invariant()
    def is_as_known(self) -> None:
        """Nothing else has changed, least of all what has ended."""
        for call_id, known in self.known.items():
            entry = self.run(self.calls.get(call_id, "default"))
            message = None if entry.message is None else entry.message.content
            assert (entry.status, entry.attempt, message) == (known.status, known.attempt, known.message)
            assert entry.has_ended == (known.status not in OPEN)
        queued = sum(known.status == "queued" for known in self.known.values())
        assert self.run(self.queue.count_queued()) == queued


TestLedgers = Ledgers.TestCase
TestLedgers.settings = settings(
    max_examples=12, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
