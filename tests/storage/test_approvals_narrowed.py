"""Lists of approvals are narrowed and counted alike in each store, for all arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from sidecall import Caller, ToolCall
from sidecall.features.approvals.record import Decision
from sidecall.features.approvals.stores import Approvals
from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.ports.approvals.approval import AskedTool, Preview
from sidecall.kernel.ports.user_tokens import SignIn
from tests.kit.ledgers import Clock, Place

# Texts that SQL, JSON or a path in it would take for something else.
ODD = {"args": "a \x00 b", "back": "\\u0000", "quote": "'\"$.tool_call.name", "text": "\U0001f600 \u2028"}


@dataclass
class Asked:
    """A call that waits."""

    id: str
    name: str = "pay"
    by: str = "ann"
    chat: str | None = None
    trace: str | None = None
    request: str | None = None

    async def ask(self, approvals: Approvals, preview: Preview | None = None) -> str:
        """Keep it, and return its approval's id."""
        call = ToolCall(name=self.name, args=ODD, id=self.id)
        context = {} if self.chat is None else {"conversation_id": self.chat}
        record = CallRecord.of(CallRequest(call, Sender(caller=Caller(self.by)), None, context), "invocation")
        record = record.model_copy(update={"trace_id": self.trace, "request_id": self.request})
        return (await approvals.ask(record, call, preview or Preview())).approval.id


CALLS = [
    Asked("1", chat="c1", trace="a" * 32, request="r1"),
    Asked("2", name="it's", chat="c1", trace="b" * 32, request="r2"),
    Asked("3", by="bob", chat="c2", trace="a" * 32),
    Asked("4", name="it's", by="bob"),
]


@pytest.fixture
def approvals(ledger: Place, clock: Clock) -> Approvals:
    """Keep ten."""
    return ledger.approvals(10.0, 10, clock)


@pytest.mark.parametrize(
    ("matching", "found"),
    [
        ({}, "1234"),
        ({"tool": "pay"}, "13"),
        ({"tool": "it's"}, "24"),
        ({"tool": "pa"}, ""),
        ({"tool": "' OR '1'='1"}, ""),
        ({"requested_by": "bob"}, "34"),
        ({"conversation_id": "c1"}, "12"),
        ({"trace_id": "a" * 32}, "13"),
        ({"request_id": "r2"}, "2"),
        ({"tool": "pay", "requested_by": "bob"}, "3"),
        ({"conversation_id": "c1", "tool": "it's", "trace_id": "b" * 32, "request_id": "r2"}, "2"),
        ({"conversation_id": "c2", "tool": "it's"}, ""),
    ],
)
async def test_each_filter_and_all_of_them(approvals: Approvals, matching: Mapping[str, str], found: str) -> None:
    """The count is of all pages, however short they are."""
    for call in CALLS:
        await call.ask(approvals)

    page = await approvals.list("default", matching=matching)
    assert ("".join(it.tool_call.id for it in page.approvals), page.total) == (found, len(found))
    first = await approvals.list("default", "pending", 1, matching=matching)
    assert ("".join(it.tool_call.id for it in first.approvals), first.total) == (found[:1], len(found))
    if len(found) > 1:
        rest = await approvals.list("default", "pending", 9, first.cursor, with_expired=True, matching=matching)
        assert ("".join(it.tool_call.id for it in rest.approvals), rest.total) == (found[1:], len(found))
    assert (await approvals.list("acme", matching=matching)).total == 0


async def test_the_status_counts_too(approvals: Approvals) -> None:
    """With what else is asked for."""
    ids = [await call.ask(approvals) for call in CALLS]
    await approvals.decide(ids[0], Decision(decision="reject"), "ada")

    async def count(status: Any, **matching: str) -> int:
        return (await approvals.list("default", status, matching=matching)).total

    assert await count("rejected") == 1
    assert await count("pending") == 3
    assert await count("rejected", tool="pay") == 1
    assert await count("rejected", requested_by="bob") == 0
    assert await approvals.count_by_conversation("default") == {"c1": 1, "c2": 1}
    assert await approvals.count_by_conversation("default", "bob") == {"c2": 1}


async def test_what_waits_is_counted_by_the_definition_that_was_asked_about(approvals: Approvals) -> None:
    """Not what waits for a sign-in, nor what is decided."""
    one, other = Preview(tool=AskedTool("1" * 64, {})), Preview(tool=AskedTool("2" * 64, {}))
    await CALLS[0].ask(approvals, one)
    await CALLS[2].ask(approvals, one)
    await CALLS[1].ask(approvals, other)
    decided = await CALLS[3].ask(approvals)
    await approvals.decide(decided, Decision(decision="approve"), "ada")
    await Asked("5").ask(approvals, Preview(sign_in=SignIn(provider="github", url="https://x.example/")))
    await Asked("6").ask(approvals)

    waiting = await approvals.list_waiting_tools()
    assert sorted((it.name, it.hash or "", it.count) for it in waiting) == [
        ("it's", "2" * 64, 1),
        ("pay", "", 1),
        ("pay", "1" * 64, 2),
    ]


async def test_how_long_the_oldest_waits(approvals: Approvals) -> None:
    """By the machine's clock; none while nothing waits."""
    before = await approvals.count_waiting()
    await CALLS[0].ask(approvals)
    after = await approvals.count_waiting()

    assert (before.pending, before.oldest_seconds) == (0, None)
    assert (after.pending, after.waiting) == (1, 1)
    assert after.oldest_seconds is not None
