"""Calls that outlive their requests: jobs, keys, and what waits for a person."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.kit.lines import Answer
from trials.soaking.guest import EVENTS, Act, Guest, expect, expect_kind, read_events

_BACKGROUND = {"Prefer": "respond-async"}
_LONG = {"Prefer": "wait=30"}


async def _begin(guest: Guest, name: str, args: Any) -> str:
    """Send a call without waiting for it, and return its address."""
    answer = await guest.call(name, args, headers=_BACKGROUND, status=202)
    expect(answer.headers["location"], f"/tool_calls/{answer.json['id']}")
    return answer.headers["location"]


async def _poll(guest: Guest) -> None:
    place = await _begin(guest, "hold", {"seconds": guest.dice.uniform(0, 0.05)})
    entry = (await guest.ask("GET", place)).json
    if entry["status"] not in ("queued", "running", "succeeded"):
        expect(entry["status"], "running")
    ended = (await guest.ask("GET", place, headers=_LONG)).json
    expect((ended["status"], ended["message"]["content"]), ("succeeded", "held"))


async def _fail_later(guest: Guest) -> None:
    place = await _begin(guest, "divide", {"a": 1, "b": 0})
    ended = (await guest.ask("GET", place, headers=_LONG)).json
    expect((ended["status"], ended["kind"]), ("failed", "execution_error"))


async def _cancel(guest: Guest) -> None:
    place = await _begin(guest, "pause", {"seconds": 20.0})
    await asyncio.sleep(guest.dice.uniform(0, 0.05))
    await guest.ask("POST", f"{place}/cancel")
    ended = (await guest.ask("GET", place, headers=_LONG)).json
    expect((ended["status"], ended["message"]["status"]), ("cancelled", "error"))


async def _watch(guest: Guest) -> None:
    place = await _begin(guest, "hold", {"seconds": 0.05})
    events = read_events(await guest.ask("GET", f"{place}/events"))
    expect((events[-1][0], events[-1][1]["content"]), ("message", "held"))
    expect({kind for kind, _ in events} <= {"status", "progress", "message"}, True)


async def _look_back(guest: Guest) -> None:
    """Read the list of calls, and one of them."""
    listed = (await guest.ask("GET", "/tool_calls?limit=20&name=hold")).json
    expect({entry["name"] for entry in listed} <= {"hold"}, True)
    await guest.ask("GET", "/tool_calls/summary?by=name")
    await guest.ask("GET", "/tool_calls?limit=5&status=running")


async def _send_twice(guest: Guest) -> None:
    """Send a call twice with one key, at once or one after the other."""
    headers = {"Idempotency-Key": guest.new_id()}
    other, args = guest.another(), {"a": 1, "b": guest.dice.randrange(10**6)}
    call = {"name": "add", "args": args, "id": guest.new_id()}
    try:
        if guest.dice.random() < 0.5:
            found: list[Answer] = list(
                await asyncio.gather(*(one.ask("POST", "/tool_calls", call, headers=headers) for one in (guest, other)))
            )
        else:
            found = [await one.ask("POST", "/tool_calls", call, headers=headers) for one in (guest, other)]
    finally:
        other.close()
    expect([one.content for one in found], [str(1 + args["b"])] * 2)
    expect(sorted(one.headers.get("idempotency-replayed", "") for one in found), ["", "true"])
    expect(found[0].json["id"], found[1].json["id"])
    await guest.ask("POST", "/tool_calls", {**call, "args": {"a": 2, "b": 2}}, headers=headers, status=422)


async def _book_twice(guest: Guest) -> None:
    """Send the same id to a tool that runs once for each."""
    call: dict[str, Any] = {"name": "book", "args": {"place": guest.new_id()}, "id": guest.new_id()}
    found = [await guest.ask("POST", "/tool_calls", call) for _ in range(2)]
    expect(found[0].json["id"], found[1].json["id"])
    expect(found[1].content, f"booked {call['args']['place']}")


async def _ask_person(guest: Guest, name: str = "pay", least: int = 1) -> tuple[str, int]:
    amount = guest.dice.randrange(least, 10**6)
    asked = await guest.call(name, {"amount": amount}, status=202)
    expect((asked.json["status"], asked.json["tool_call"]["args"]["amount"]), ("pending", amount))
    return f"/approvals/{asked.json['id']}", amount


async def _approve(guest: Guest) -> None:
    place, amount = await _ask_person(guest)
    decided = await guest.ask("POST", place, {"decision": "approve"}, caller="boss")
    expect(decided.json["message"]["content"], f"paid {amount}")
    shown = (await guest.ask("GET", place)).json
    expect((shown["status"], shown["message"]["content"]), ("approved", f"paid {amount}"))
    await guest.ask("POST", place, {"decision": "reject"}, caller="boss", status=409)


async def _reject(guest: Guest) -> None:
    place, _ = await _ask_person(guest)
    decided = await guest.ask("POST", place, {"decision": "reject", "reason": "not now"}, caller="boss")
    error = decided.json["message"]["response_metadata"]["error"]
    expect((error["kind"], "not now" in decided.json["message"]["content"]), ("rejected", True))


async def _edit(guest: Guest) -> None:
    place, _ = await _ask_person(guest)
    await guest.ask("POST", place, {"decision": "approve", "args": {"amount": "much"}}, caller="boss", status=422)
    decided = await guest.ask("POST", place, {"decision": "approve", "args": {"amount": 7}}, caller="boss")
    expect(decided.json["message"]["content"], "paid 7")


async def _ask_while_running(guest: Guest) -> None:
    place, amount = await _ask_person(guest, "pay_out", 100)
    await guest.ask("POST", place, {"decision": "approve"}, status=403)
    decided = await guest.ask("POST", place, {"decision": "approve"}, caller="boss")
    expect(decided.json["message"]["content"], f"paid {amount}")


async def _forget(guest: Guest) -> None:
    """Ask, and let it run out; and read who waits."""
    if guest.dice.random() < 0.2:
        await _ask_person(guest)
    listed = (await guest.ask("GET", "/approvals?status=pending&limit=10", caller="boss")).json
    expect({one["status"] for one in listed} <= {"pending"}, True)


async def _decide_job(guest: Guest) -> None:
    """Approve a call without a waiting client."""
    place = await _begin(guest, "pay", {"amount": 5})
    entry = (await guest.ask("GET", place)).json
    while entry["status"] in ("queued", "running"):
        entry = (await guest.ask("GET", place)).json
    expect(entry["status"], "awaiting_approval")
    await guest.ask("POST", f"/approvals/{entry['approval_id']}", {"decision": "approve"}, caller="boss")
    ended = (await guest.ask("GET", place, headers=_LONG)).json
    expect((ended["status"], ended["message"]["content"]), ("succeeded", "paid 5"))


async def _leave_job(guest: Guest) -> None:
    """Hang up on the events of a call that continues."""
    place = await _begin(guest, "hold", {"seconds": 0.1})
    await guest.leave(guest.write("GET", f"{place}/events", headers=EVENTS))
    ended = (await guest.ask("GET", place, headers=_LONG)).json
    expect(ended["status"], "succeeded")


async def _ask_for_none(guest: Guest) -> None:
    missing = "01890a5d-ac96-774b-bcce-b302099a8057"
    expect_kind(await guest.ask("GET", f"/tool_calls/{missing}", status=404), "unknown-call")
    expect_kind(await guest.ask("GET", f"/approvals/{missing}", status=404), "unknown-approval")


# What is done, and how often in proportion.
ACTS: Mapping[str, tuple[int, Act]] = {
    "job, asked for": (30, _poll),
    "job that fails": (10, _fail_later),
    "job, cancelled": (15, _cancel),
    "job, watched": (20, _watch),
    "job, left alone": (10, _leave_job),
    "history": (5, _look_back),
    "key, twice": (30, _send_twice),
    "id, twice": (15, _book_twice),
    "approval": (20, _approve),
    "approval, rejected": (10, _reject),
    "approval, edited": (10, _edit),
    "approval of a tool that asks": (10, _ask_while_running),
    "approval of a job": (10, _decide_job),
    "approval, forgotten": (10, _forget),
    "calls that there are not": (5, _ask_for_none),
}
