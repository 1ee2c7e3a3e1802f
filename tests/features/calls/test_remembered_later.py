"""Remembered calls, after they were accepted: cancelled, queued, found again."""

import asyncio

import pytest

from sidecall import ApprovalRequired, StructuredTool, tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import (
    ASYNC,
    GO,
    RAN,
    cancel_itself,
    charge,
    exit_now,
    key,
    refund,
    refund_slowly,
    send,
    ship,
    wait_for,
)
from tests.kit.waiting import until


async def test_a_running_call_can_be_cancelled(serve: MakeClient) -> None:
    """Its tool ends, it has an answer that says so, and it cannot be cancelled twice."""
    client = await serve(wait_for)
    accepted = await send(client, "wait_for", headers=ASYNC, name="a")
    await until(lambda: RAN["a"] > 0)

    cancelled = await client.post(f"{accepted.headers['Location']}/cancel")
    again = await client.post(f"{accepted.headers['Location']}/cancel")

    assert (cancelled.json()["status"], cancelled.json()["kind"]) == ("cancelled", "cancelled")
    assert (again.status_code, again.json()["type"]) == (409, "urn:sidecall:problem:call-ended")


async def test_a_queued_call_can_be_cancelled(serve: MakeClient) -> None:
    """It never begins."""
    client = await serve(wait_for, max_running_jobs=1)
    await send(client, "wait_for", headers=ASYNC, name="a")
    queued = await send(client, "wait_for", headers=ASYNC, name="b")

    cancelled = await client.post(f"{queued.headers['Location']}/cancel")

    assert (queued.json()["status"], cancelled.json()["status"], RAN["b"]) == ("queued", "cancelled", 0)
    assert cancelled.json()["message"]["content"] == NEVER


@tool
async def ask_midway(order: str) -> str:
    """Ask a person in the middle.

    Args:
        order: Which.
    """
    raise ApprovalRequired(f"Ship {order}?")


NEVER = "Error: the call was cancelled before it ran; it has had no effects."
PERHAPS = "Error: the call was cancelled; it may have had effects if it had begun."


@pytest.mark.parametrize(
    ("asking", "has_begun", "text"), [(refund, False, NEVER), (ask_midway, True, PERHAPS)], ids="first midway".split()
)
async def test_a_cancelled_call_that_waited_for_a_person_says_whether_it_ran(
    serve: MakeClient, asking: StructuredTool, has_begun: bool, text: str
) -> None:
    """Only a tool that asks by itself has run, up to there."""
    client = await serve(asking)
    accepted = await send(client, asking.name, headers=ASYNC, order="a")
    path = accepted.headers["Location"]
    while (await client.get(path)).json()["status"] != "awaiting_approval":  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0)

    ended = (await client.post(f"{path}/cancel")).json()

    assert (ended["status"], ended["message"]["content"]) == ("cancelled", text)
    assert [ended[name] is not None for name in ("started_at", "duration_ms", "ended_at")] == [
        has_begun,
        has_begun,
        True,
    ]


async def test_queued_calls_run_fairly_between_callers(serve: MakeClient) -> None:
    """Who sends one call does not wait for all of who has sent many."""
    client = await serve(wait_for, max_running_jobs=1, caller_header="X-User")
    places = {}
    for user, name in [("ann", "a1"), ("ann", "a2"), ("ann", "a3"), ("bob", "b1")]:
        GO[name] = asyncio.Event()
        accepted = await send(client, "wait_for", headers={**ASYNC, "X-User": user}, name=name)
        places[name] = (accepted.headers["Location"], {"X-User": user, "Prefer": "wait=10"})
    for event in GO.values():
        event.set()

    for location, headers in places.values():
        await client.get(location, headers=headers)

    assert list(RAN) == ["a1", "a2", "b1", "a3"]


async def test_more_calls_than_may_be_queued_are_refused(serve: MakeClient) -> None:
    """With 503 and when to come again."""
    client = await serve(wait_for, max_running_jobs=1, max_queued_jobs=1)

    answers = [await send(client, "wait_for", headers=ASYNC, name=name) for name in "abc"]

    assert [answer.status_code for answer in answers] == [202, 202, 503]
    assert (answers[2].json()["type"], answers[2].headers["Retry-After"]) == (
        "urn:sidecall:problem:too-many-jobs",
        "10",
    )
    assert answers[2].json()["detail"] == "So many calls are queued that this server takes no more."


async def test_a_remembered_call_is_counted_once(serve: MakeClient) -> None:
    """When it is sent."""
    client = await serve(charge, rate_limit="3/hour")

    answers = [await send(client, "charge", headers=ASYNC, order=str(number)) for number in range(4)]

    assert [answer.status_code for answer in answers] == [202, 202, 202, 429]


@pytest.mark.parametrize(
    "call_id", ["01a202d4-8e08-76c8-a6cd-81cabbcf02ac", "nope", "call_1", "%C3%A4", "%FF", "1" * 999]
)
@pytest.mark.parametrize(
    ("method", "what"), [("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/replay")]
)
async def test_an_unknown_call_is_not_found(serve: MakeClient, call_id: str, method: str, what: str) -> None:
    """Nor is what cannot be the id of one."""
    client = await serve(charge)

    answer = await client.request(method, f"/tool_calls/{call_id}{what}")

    assert (answer.status_code, answer.json()["type"]) == (404, "urn:sidecall:problem:unknown-call")


async def test_a_call_is_found_however_its_id_is_spelled(serve: MakeClient) -> None:
    """In large letters, or without dashes."""
    client = await serve(charge)
    path = (await send(client, "charge", headers=ASYNC, order="a")).headers["Location"]
    call_id = path.rpartition("/")[2]

    found = [await client.get(f"/tool_calls/{it}") for it in (call_id.upper(), call_id.replace("-", ""))]

    assert [answer.json()["id"] for answer in found] == [call_id] * 2


async def test_an_unknown_tool_is_answered_at_once(serve: MakeClient) -> None:
    """The model has to mend the call, in each mode that a client prefers."""
    client = await serve(charge)

    answer = await send(client, "chrage", headers=ASYNC, order="a")

    assert (answer.status_code, answer.json()["status"]) == (200, "error")


async def test_calls_are_listed_page_by_page(serve: MakeClient) -> None:
    """Newest first, with the filters of the first page, without secrets in their arguments."""
    client = await serve(charge, ship)
    for number in range(5):
        await send(client, "charge", headers=key(str(number)), order=str(number), fails=number % 2 == 1)
    await send(client, "ship", order="x", id="s")

    pages, address = [], "/tool_calls?name=charge&limit=2"
    while address:
        page = await client.get(address)
        pages.append([call["args"]["order"] for call in page.json()])
        address = page.links.get("next", {}).get("url", "")
    failed = (await client.get("/tool_calls?status=failed&kind=tool_error")).json()

    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    assert [call["args"]["order"] for call in failed] == ["3", "1"]
    assert "message" not in failed[0]


@pytest.mark.parametrize(
    "query",
    [
        "since=0.5",
        "until=1750000000",
        "since=yesterday",
        "status=nope",
        "kind=nope",
        "limit=0",
        "limit=5_0",
        "cursor=1",
        pytest.param(f"cursor={'-' * 36}", id="a cursor of dashes"),
        pytest.param(f"cursor={'f' * 36}", id="a cursor without dashes"),
        pytest.param("cursor=01A202D4-88DD-7581-A083-33B48C8D6BB5", id="a cursor in capitals"),
    ],
)
async def test_what_a_list_cannot_know_is_refused(serve: MakeClient, query: str) -> None:
    """A number might be seconds, milliseconds or a year."""
    client = await serve(charge)

    answer = await client.get(f"/tool_calls?{query}")

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", query.partition("=")[0]])


async def test_a_client_that_hangs_up_at_once_loses_nothing(serve: MakeClient) -> None:
    """Whenever it goes, its call is either not accepted or runs to its end."""
    client = await serve(charge)
    for turns in range(30):
        sent = asyncio.ensure_future(send(client, "charge", headers=key(str(turns)), order=str(turns)))
        for _ in range(turns):
            await asyncio.sleep(0)
        sent.cancel()
        await asyncio.gather(sent, return_exceptions=True)

    answers = [await send(client, "charge", headers=key(str(turns)), order=str(turns)) for turns in range(30)]

    assert [answer.json()["content"] for answer in answers] == [f"charged {n} for the 1. time" for n in range(30)]


async def test_a_cancelled_call_cannot_be_approved(serve: MakeClient) -> None:
    """The person who comes late is told."""
    client = await serve(refund)
    waiting = await send(client, "refund", headers=key("k"), order="a")
    [call] = (await client.get("/tool_calls")).json()

    cancelled = await client.post(f"/tool_calls/{call['id']}/cancel")
    late = await client.post(waiting.headers["Location"], json={"decision": "approve"})
    approval = (await client.get(waiting.headers["Location"])).json()

    assert (cancelled.json()["status"], late.status_code, RAN["a"]) == ("cancelled", 409, 0)
    assert (approval["status"], approval["reason"]) == ("cancelled", "The call was cancelled.")


async def test_a_call_that_is_approved_in_time_and_ends_late_has_its_answer(serve: MakeClient) -> None:
    """Though its approval has expired meanwhile."""
    ttl = 3
    client = await serve(refund_slowly, approval_ttl=ttl)
    waiting = await send(client, "refund_slowly", headers=key("k"), order="a")

    deciding = asyncio.ensure_future(client.post(waiting.headers["Location"], json={"decision": "approve"}))
    await until(lambda: RAN["a"] > 0)
    await asyncio.sleep(ttl)
    GO["a"].set()
    decided = await deciding
    [call] = (await client.get("/tool_calls")).json()

    assert (decided.json()["message"]["content"], call["status"]) == ("refunded a", "succeeded")


async def test_both_sets_of_arguments_are_kept(serve: MakeClient) -> None:
    """Those of the model and those of the person, with who decided, when and why."""
    client = await serve(refund)
    waiting = await send(client, "refund", headers=key("k"), order="a")
    decision = {"decision": "approve", "args": {"order": "b"}, "reason": "The wrong order."}

    decided = await client.post(waiting.headers["Location"], json=decision)
    approval = (await client.get(waiting.headers["Location"])).json()

    assert decided.json() == approval
    assert (approval["asked_args"], approval["tool_call"]["args"]) == ({"order": "a"}, {"order": "b"})
    assert (approval["decided_by"], approval["reason"]) == ("anonymous", "The wrong order.")
    assert (RAN["a"], RAN["b"]) == (0, 1)


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [("exit_now", "failed", "execution_error"), ("cancel_itself", "failed", "execution_error")],
)
async def test_a_tool_that_breaks_out_ends_its_own_call_only(
    serve: MakeClient, name: str, status: str, kind: str
) -> None:
    """The next call runs."""
    client = await serve(exit_now, cancel_itself, charge)

    broken = await send(client, name, headers={"Prefer": "wait=10"})
    accepted = await send(client, "charge", headers=ASYNC, order="a")
    ended = await client.get(accepted.headers["Location"], headers={"Prefer": "wait=10"})
    [call] = (await client.get(f"/tool_calls?name={name}")).json()

    assert (call["status"], call["kind"]) == (status, kind), broken.text
    assert ended.json()["status"] == "succeeded"


async def test_a_call_that_was_approved_just_now_is_not_cancelled(serve: MakeClient) -> None:
    """The agent and the person see the same answer."""
    client = await serve(refund_slowly)
    waiting = await send(client, "refund_slowly", headers=key("k"), order="a")
    [call] = (await client.get("/tool_calls")).json()
    deciding = asyncio.ensure_future(client.post(waiting.headers["Location"], json={"decision": "approve"}))
    await until(lambda: RAN["a"] > 0)

    cancelled = await client.post(f"/tool_calls/{call['id']}/cancel")
    GO["a"].set()
    decided = await deciding
    again = await send(client, "refund_slowly", headers=key("k"), order="a")

    assert cancelled.json()["status"] == "awaiting_approval"
    assert decided.json()["message"] == again.json()
