"""Calls that were decided about are known again, as far as the store can be asked."""

import asyncio
from typing import Any

import pytest

from sidecall import ApprovalRequired, ToolCall, tool
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.approvals.steps import may_ask
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.costs.steps import count_steps
from tests.kit.faulty import FaultyDatabase
from tests.kit.pipelines import make_pipeline


@tool
async def ask_first(n: int) -> str:
    """Ask."""
    if n > 5:
        raise ApprovalRequired("Really?")
    return f"did {n}"


@tool(requires_approval=lambda args: args["n"] > 5)
async def ask_before(n: int) -> str:
    """Be asked about."""
    return f"did {n}"


@tool
async def need_no_approval(n: int) -> str:
    """Ask nobody."""
    return f"did {n}"


def test_a_tool_that_asks_nobody_is_not_looked_for() -> None:
    """Though it stands beside others that ask."""
    assert [may_ask(one.compiled) for one in (ask_first, ask_before, need_no_approval)] == [True, True, False]


@pytest.mark.parametrize(
    ("offered", "n", "expected"),
    [
        pytest.param(need_no_approval, 9, "did 9", id="asks nobody"),
        pytest.param(ask_first, 1, "did 1", id="could ask"),
        pytest.param(ask_first, 9, StoreUnavailable, id="asks"),
        pytest.param(ask_before, 1, StoreUnavailable, id="could be asked about"),
    ],
)
async def test_without_a_store_only_calls_that_need_it_are_refused(offered: Any, n: int, expected: Any) -> None:
    """One that may have been decided about never runs again."""
    database = FaultyDatabase(SqliteDatabase())
    await database.open()
    database.before.update(find_approval=1, ask_approval=1)
    pipeline = make_pipeline([offered], approvals=SqlApprovals(database, "a server"))
    request = CallRequest(ToolCall(name=offered.name, args={"n": n}, id="call_1"))

    try:
        came: Any = (await pipeline.run(request)).content
    except StoreUnavailable as error:
        came = type(error)
    await database.close()

    assert came == expected


def test_looking_for_a_call_does_not_read_its_state() -> None:
    """It may be large, and a call that nobody has to approve keeps none of it."""
    pipeline = make_pipeline([ask_before])

    def count(state: list[list[int]]) -> int:
        request = CallRequest(ToolCall(name="ask_before", args={"n": 1}, id="call_1"), state=state)
        counted, answer = count_steps(lambda: asyncio.run(pipeline.run(request)))
        assert answer.content == "did 1"
        return counted

    count([])  # The first makes what later ones share.

    assert count([[1]] * 2000) < count([]) + 200
