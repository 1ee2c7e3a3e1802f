"""Calls are kept within budgets: at the cap they are refused, or wait for a person."""

import asyncio
import threading
from pathlib import Path

import httpx
import pytest

from sidecall import Registry, ToolContext, tool
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.costs.budget_settings import Window, read_budgets
from sidecall.features.costs.sql_store import Purse, SpendingLog
from sidecall.features.costs.steps import TakeBudget
from sidecall.kernel.core.invocation import new_invocation
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.main import create_app
from sidecall.settings import Settings
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.features.costs.priced import (
    add,
    cached,
    curious,
    fixed,
    free,
    in_process,
    job,
    judged,
    late_in_process,
    plain,
    roundabout,
    send,
)
from tests.kit.calls import write_request
from tests.kit.clients import MakeClient, send_together
from tests.kit.ledgers import Clock

pytestmark = pytest.mark.anyio


async def spend(client: httpx.AsyncClient, *amounts: float, **args: str) -> list[int]:
    """Send calls that cost so much, one after the other, and return their statuses."""
    return [(await send(client, "add", amounts=[amount], **args)).status_code for amount in amounts]


async def test_a_call_beyond_the_budget_is_refused_in_words(make_client: MakeClient, store: str) -> None:
    """They say what is spent, and when it is possible again."""
    client = await make_client(add, fixed, store=store, budget="0.50/month")

    statuses = await spend(client, 0.1, 0.2, 0.2, 0.1)
    refused = await send(client, "add", amounts=[0.1])
    problem = refused.json()

    assert (statuses, refused.status_code) == ([200, 200, 200, 429], 429)
    assert problem["type"] == "urn:sidecall:problem:budget-spent"
    assert problem["detail"].startswith(
        "The budget of one caller is 0.50 per month, and it is used up: 0.50 spent. It is possible again at 20"
    )
    assert problem["budget"] | {"renewed_at": ""} == {
        **{"per": "caller", "time": "month", "most": 0.5, "spent": 0.5},
        "renewed_at": "",
    }
    assert problem["budget"]["renewed_at"].endswith("-01T00:00:00Z")
    assert int(refused.headers["Retry-After"]) == problem["retry_after"] > 0


async def test_a_known_price_never_exceeds_the_budget(make_client: MakeClient, store: str) -> None:
    """However many calls come at once; what is left is no use to a dearer call."""
    client = await make_client(fixed, add, store=store, budget="0.60/month")

    statuses = await send_together(client, {"name": "fixed", "args": {}}, 8)
    refused = (await send(client, "fixed")).json()

    assert sorted(statuses) == [200] * 2 + [429] * 6
    assert refused["detail"].startswith(
        "The budget of one caller is 0.60 per month, and 0.10 are left. This call costs 0.25."
    )
    assert await spend(client, 0.1, 0.1) == [200, 429]


async def test_a_price_above_the_whole_budget_says_so(make_client: MakeClient) -> None:
    """There is no time at which it is possible."""
    client = await make_client(fixed, budget="0.10/month")

    refused = (await send(client, "fixed")).json()

    assert refused["detail"].endswith("This call costs 0.25. That is more than the whole budget.")


async def test_calls_in_flight_may_go_beyond_it_and_no_later_one(make_client: MakeClient) -> None:
    """What they cost is known at their end."""
    client = await make_client(add, budget="0.10/month")

    statuses = await send_together(client, {"name": "add", "args": {"amounts": [0.1]}}, 3)

    assert statuses[0] == 200
    assert await spend(client, 0.1) == [429]


@pytest.mark.parametrize(
    ("name", "args", "status"),
    [
        *(("plain", {}, 200), ("free", {}, 200)),
        *(("add", {"amounts": []}, 429), ("judged", {}, 429), ("in_process", {"amounts": []}, 429)),
        *(("fixed", {}, 429), ("fixed", {"text": 7}, 200), ("nothing", {}, 200), ("cached", {"text": "a"}, 429)),
    ],
)
async def test_only_calls_that_may_cost_are_refused(
    make_client: MakeClient, name: str, args: dict[str, object], status: int
) -> None:
    """Those of other tools run, and a call that cannot run is told why."""
    client = await make_client(add, plain, free, judged, in_process, fixed, cached, budget="0.10/month")
    await spend(client, 0.1)

    assert (await send(client, name, **args)).status_code == status


async def test_a_kept_answer_is_given_though_nothing_is_left(make_client: MakeClient, store: str) -> None:
    """It costs nothing; the same call that has to run anew is refused."""
    client = await make_client(cached, add, store=store, budget="0.30/month")
    call = {"name": "cached", "args": {"text": "a"}}

    first = await send(client, "cached", text="a")
    await spend(client, 0.1)
    kept = [await send(client, "cached", text="a") for _ in range(2)]
    [in_batch] = (await client.post("/tool_calls/batch", json=[call | {"id": "1"}])).json()
    fresh = await client.post("/tool_calls", json=call, headers={"Cache-Control": "no-cache"})
    never = await client.post("/tool_calls", json=call, headers={"Cache-Control": "no-store"})
    other = await send(client, "cached", text="b")

    assert [it.json()["response_metadata"]["cache"]["status"] for it in (first, *kept)] == ["miss", "hit", "hit"]
    assert [it.json()["response_metadata"]["cost"] for it in (first, *kept)] == [0.25, 0.0, 0.0]
    assert (in_batch["content"], in_batch["status"]) == ("a", "success")
    assert [it.status_code for it in (fresh, never, other)] == [429, 429, 429]


async def test_of_equal_calls_at_once_one_pays(make_client: MakeClient, store: str) -> None:
    """The others share its run, for which the budget has enough once."""
    client = await make_client(cached, store=store, budget="0.25/month")

    assert await send_together(client, {"name": "cached", "args": {"text": "a"}}, 8) == [200] * 8
    assert await send_together(client, {"name": "cached", "args": {"text": "b"}}, 3) == [429] * 3


async def test_a_person_is_asked_about_a_run_and_not_about_a_kept_answer(make_client: MakeClient) -> None:
    """An approved call runs."""
    client = await make_client(cached, budget="0.25/month", budget_action="approve")

    statuses = [(await send(client, "cached", text=text)).status_code for text in "aab"]
    [asked] = (await client.get("/approvals")).json()
    decided = (await client.post(f"/approvals/{asked['id']}", json={"decision": "approve"})).json()

    assert statuses == [200, 200, 202]
    assert decided["message"]["content"] == "b"


async def test_an_answer_that_is_sent_again_needs_no_budget(make_client: MakeClient, store: str) -> None:
    """By its key, and one that a person has approved by its id."""
    client = await make_client(fixed, store=store, budget="0.25/month")
    call, headers = {"name": "fixed", "args": {"text": "a"}, "id": "1"}, {"Idempotency-Key": "k"}

    answers = [await client.post("/tool_calls", json=call, headers=headers) for _ in range(3)]
    other = await client.post("/tool_calls", json=call)

    assert [(it.status_code, it.json()["content"]) for it in answers] == [(200, "a")] * 3
    assert other.status_code == 429


async def test_a_tool_that_adds_nothing_is_free_until_it_does(make_client: MakeClient, store: str) -> None:
    """Though it takes a context; what its own code does not show is known from its first call that adds."""
    client = await make_client(add, curious, roundabout, store=store, budget="0.10/month")
    await spend(client, 0.1)

    statuses = [(await send(client, "curious")).status_code for _ in range(2)]
    by_roundabout = [(await send(client, "roundabout", amount=amount)).status_code for amount in (0, 0, 0.1, 0)]

    assert (statuses, by_roundabout) == ([200, 200], [200, 200, 200, 429])


async def test_what_a_process_adds_until_it_is_killed_is_spent(make_client: MakeClient) -> None:
    """The answer has what was added before the deadline, the metric and the budget have the rest."""
    client = await make_client(late_in_process, add, budget="0.375/month")

    answer = (await send(client, "late_in_process")).json()
    for _ in range(3000):
        if (await spend(client, 0)) == [429]:
            break
        await asyncio.sleep(0.01)
    [line] = [it for it in (await client.get("/metrics")).text.splitlines() if it.startswith("sidecall_cost_total")]

    assert answer["response_metadata"]["error"]["kind"] == "timeout"
    assert 0.375 <= answer["response_metadata"]["cost"] <= float(line.split()[-1])


async def test_what_did_not_run_is_given_back(make_client: MakeClient) -> None:
    """So a cached answer takes nothing, and what a failed call has added is taken."""
    client = await make_client(cached, fixed, budget="0.75/month")

    answers = [await send(client, "cached", text="a") for _ in range(4)]
    failed = await send(client, "fixed", text="fail")
    statuses = [(await send(client, "fixed")).status_code for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200] * 4
    assert (failed.json()["status"], statuses) == ("error", [200, 429])


async def test_each_caller_and_conversation_has_a_budget(make_client: MakeClient) -> None:
    """Several hold together; calls without a conversation share one."""
    client = await make_client(add, budget="0.30/month, 0.10/month per conversation", caller_header="X-User")
    client.headers["X-User"] = "ann"

    by_ann = [await spend(client, 0.1, 0.1, conversation=name) for name in ("one", "two", "three", "four")]
    client.headers["X-User"] = "bob"
    by_bob = [await spend(client, 0.1, 0.1), await spend(client, 0.1, 0.1, conversation="one")]

    assert by_ann == [[200, 429], [200, 429], [200, 429], [429, 429]]
    assert by_bob == [[200, 429], [200, 429]]


async def test_in_a_batch_and_as_a_job_it_is_an_answer(make_client: MakeClient) -> None:
    """Of kind `overloaded`, with the same words."""
    client = await make_client(fixed, add, job, budget="0.10/month")
    await spend(client, 0.1)

    [answer] = (await client.post("/tool_calls/batch", json=[{"name": "fixed", "args": {}, "id": "1"}])).json()
    begun = (await send(client, "job")).json()
    ended = (await client.get(f"/tool_calls/{begun['id']}", headers={"Prefer": "wait=30"})).json()

    for message in (answer, ended["message"]):
        error = message["response_metadata"]["error"]
        assert (error["kind"], error["retryable"], error["retry_after_ms"] > 0) == ("overloaded", True, True)
        assert message["content"].startswith("The budget of one caller is 0.10 per month, and it is used up")
    assert (ended["status"], ended["cost"]) == ("failed", 0.0)


async def test_a_refused_call_counts_as_one_beyond_a_quota(make_client: MakeClient) -> None:
    """In the metrics; the history has none."""
    client = await make_client(add, budget="0.10/month")
    await spend(client, 0.1, 0.1)

    metrics = (await client.get("/metrics")).text

    assert 'sidecall_calls_total{outcome="overloaded",tool="add"} 1.0' in metrics
    assert [row["status"] for row in (await client.get("/tool_calls")).json()] == ["succeeded"]


async def test_a_person_may_let_it_run(make_client: MakeClient, store: str) -> None:
    """Its cost counts all the same; sent again, it has its answer, and another call is asked about anew."""
    client = await make_client(add, store=store, budget="0.10/month", budget_action="approve")
    await spend(client, 0.1)
    call = {"name": "add", "args": {"amounts": [0.2]}, "id": "call_1"}

    asked = [(await client.post("/tool_calls", json=call)).json() for _ in range(2)]
    decision = {"decision": "approve", "always": True}
    decided = (await client.post(f"/approvals/{asked[0]['id']}", json=decision)).json()
    again = await client.post("/tool_calls", json=call)
    other = (await client.post("/tool_calls", json=call | {"id": "call_2"})).json()

    assert asked[0]["id"] == asked[1]["id"]
    assert asked[0]["description"] == (
        "The budget of one caller is 0.10 per month, and it is used up: 0.10 spent. Shall this call run nevertheless?"
    )
    assert decided["message"]["response_metadata"]["cost"] == 0.2
    assert (again.status_code, again.json()["content"]) == (200, "done")
    assert (other["status"], "0.30 spent" in other["description"]) == ("pending", True)


async def test_a_person_may_reject_it(make_client: MakeClient) -> None:
    """The model reads why, and nothing is spent."""
    client = await make_client(fixed, budget="0.10/month", budget_action="approve")
    asked = (await send(client, "fixed")).json()

    decision = {"decision": "reject", "reason": "too dear"}
    decided = (await client.post(f"/approvals/{asked['id']}", json=decision)).json()

    assert (decided["message"]["content"], decided["message"]["status"]) == ("too dear", "error")
    assert "0.10 are left" in (await send(client, "fixed")).json()["description"]


async def test_it_holds_after_a_restart_and_for_other_servers(tmp_path: Path) -> None:
    """All that use one store count together, and another budget finds what is spent."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"

    async def run(budget: str, *amounts: float) -> list[int]:
        app = create_app(Settings(store=url, budget=budget), Registry([add]))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://t") as client,
        ):
            return await spend(client, *amounts)

    assert await run("0.20/month", 0.1) == [200]
    assert await run("0.20/month", 0.1, 0.1) == [200, 429]
    assert await run("0.50/month", 0.1, 0.2, 0.1) == [200, 200, 429]


async def test_what_comes_after_the_end_is_spent_too(make_client: MakeClient) -> None:
    """As when a thread goes on after its deadline."""
    answered, added = threading.Event(), threading.Event()

    @tool(timeout=0.05)
    def slow(context: ToolContext) -> str:
        """Go on for too long."""
        answered.wait(30)
        context.add_cost(0.5)
        added.set()
        return "done"

    client = await make_client(slow, add, budget="0.50/month")
    await send(client, "slow")
    before = await spend(client, 0)
    answered.set()
    await asyncio.to_thread(added.wait, 30)
    for _ in range(1000):
        if (await spend(client, 0)) == [429]:
            break

    assert (before, await spend(client, 0)) == ([200], [429])


class Failing(SqliteDatabase):
    """A database that fails when it is told to."""

    fails = False

    async def write(self, *args: object, **options: object) -> object:  # type: ignore[override]
        """Fail, or write."""
        if self.fails:
            raise StoreUnavailable
        return await super().write(*args, **options)  # type: ignore[arg-type]


async def test_what_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    """With the next amount, or when the next call asks."""
    database = Failing(tmp_path / "ledger.db")
    await database.open()
    clock = Clock(1_000_000.0)
    log, purse = SpendingLog(database, clock), Purse.of("ann", Window(999_960, 1_000_020))

    database.fails = True
    await log.add(purse, 3)
    await log.add(purse, 4)
    with pytest.raises(StoreUnavailable):
        await log.reserve(purse, 0, 7)
    database.fails = False
    spent = [await log.reserve(purse, amount, most) for amount, most in ((0, 7), (0, 8), (2, 8), (1, 8), (1, 8))]
    other = await SpendingLog(database, clock).reserve(purse, 0, 8)
    clock.now += 10_000
    await log.add(Purse.of("bob", Window(1_009_980, 1_010_040)), 1)
    left = await database.read("read_spending", purse.key, 999_960)
    await database.close()

    assert (spent, other, left) == ([7, None, 7, None, 8], 8, [])


class Slow(SqliteDatabase):
    """A database that takes an amount when it is told to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.asked, self.told = asyncio.Event(), asyncio.Event()

    async def write(self, statement: str, *values: object, **options: object) -> object:  # type: ignore[override]
        """Wait, and write."""
        if statement == "spend_within":
            self.asked.set()
            await self.told.wait()
        return await super().write(statement, *values, **options)  # type: ignore[arg-type]


async def test_a_call_that_is_cancelled_while_it_takes_its_price_gives_it_back(tmp_path: Path) -> None:
    """As when its client goes away."""
    database = Slow(tmp_path / "ledger.db")
    await database.open()
    [budget], log = read_budgets("1.00/month"), SpendingLog(database)
    take = TakeBudget([budget], log, "refuse", MemoryApprovals())
    call = new_invocation(write_request("fixed", {}), fixed.compiled, None)
    purse = Purse.of(budget.name_owner(call.request), budget.find_window(log.clock()))

    taking = asyncio.ensure_future(take(call))
    await database.asked.wait()
    taking.cancel()
    database.told.set()
    with pytest.raises(asyncio.CancelledError):
        await taking
    spent = await database.read("read_spending", purse.key, purse.window.begins_at)
    await database.close()

    assert (spent, call.cost) == ([(0,)], None)
