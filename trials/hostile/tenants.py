"""Two tenants, each with one of everything, and requests with which each guesses at the other's."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.kit.callers.keys import write_keys
from tests.kit.callers.requests import GATES, NONE
from trials.hostile.mutations import Write, alter, frame

# As many of everything as it takes until the requests have deleted and decided all.
_PLANTED = 8
# Lists grow with the trial, and are read in pages.
_QUERIES: Mapping[str, str] = {
    "/tool_calls": "?limit=20",
    "/tool_calls/export": "?name=calculator&status=failed",
    "/approvals": "?limit=20",
    "/approvals/rules": "?limit=20",
    "/audit": "?limit=20",
}
# What only its owner may end, and what continues until a person decides.
_ENDS = ("DELETE", "POST /approvals/{approval}", "POST /tool_calls/{held}/cancel")
_RPC = ("POST", "/mcp")
_MORE = ((), (), (), ("Prefer: respond-async",), ("Idempotency-Key: one",), ("Accept: text/event-stream",))

Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant's credential, marker word, and names of objects."""

    headers: Mapping[str, str]
    canary: str
    names: Sequence[Names]


_CANARIES = ("canary_acme_tenant", "canary_zeta_tenant")


def write_two(keys: Path) -> list[Mapping[str, str]]:
    """Write a key for each of two tenants into a file, and return their headers."""
    return [write_keys(keys, {"ann": ("*",)}, canary)["ann"] for canary in _CANARIES]


def plant_two(url: str, known: Sequence[Mapping[str, str]]) -> tuple[Tenant, Tenant]:
    """Give two tenants something of everything, on a server that knows them."""
    first, second = (_plant(url, headers, canary) for headers, canary in zip(known, _CANARIES, strict=True))
    return first, second


def _plant(url: str, headers: Mapping[str, str], canary: str) -> Tenant:
    with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
        _plant_rule(client, canary)
        names = [_plant_one(client, canary, number) for number in range(_PLANTED)]
    return Tenant(headers, canary, names)


def _plant_rule(client: httpx.Client, canary: str) -> None:
    waiting = client.post("/tool_calls", json={"name": "ruled", "args": {"amount": 1}, "id": canary})
    always = {"decision": "reject", "always": True, "reason": canary}
    assert client.post(waiting.headers["Location"], json=always).status_code == 200


def _plant_one(client: httpx.Client, canary: str, number: int) -> Names:
    def send(name: str, args: Mapping[str, Any], key: str | None = None) -> httpx.Response:
        call = {"name": name, "args": args, "id": f"{canary} {number}", "type": "tool_call"}
        known = {} if key is None else {"Idempotency-Key": key, "Prefer": "respond-async"}
        return client.post("/tool_calls", json=call, headers=known)

    called = send("choose", {"one": "first", "either": canary}, f"{canary} {number}")
    place = called.headers["Location"]
    client.get(place, headers={"Prefer": "wait=30"})
    waiting, held = send("approved", {"amount": number}), send("approved", {"amount": -number}, f"held {number}")
    # By names that both have: the other's path appears in its answer.
    assert client.put(f"/secrets/KEY_{number}", json={"value": canary}).status_code == 204
    return {
        "tool": "calculator",
        "call": place.rpartition("/")[2],
        "held": held.headers["Location"].rpartition("/")[2],
        "content": client.post("/contents", content=canary.encode()).json()["id"],
        "approval": waiting.json()["id"],
        "rule": client.get("/approvals/rules").json()[0]["id"],
        "secret": f"KEY_{number}",
        "new": f"NEW_{number}",
    }


def write_as(tenant: Tenant, other: Tenant) -> Write:
    """Give what writes requests of a tenant, most of them about what is another's."""
    bodies = _list_bodies(tenant.canary)
    credential = f"Authorization: {tenant.headers['Authorization']}"

    def write(dice: random.Random) -> bytes:
        names = dice.choice((other if dice.random() < 0.6 else tenant).names)
        if dice.random() < 0.15:
            body = alter(dice, _fill(dice.choice(_list_messages(tenant.canary)), names))
            return frame(dice, *_RPC, body, credential)
        gate = dice.choice(GATES)
        if f"{gate.method} {gate.path}".startswith(_ENDS):
            names = dice.choice(other.names)
        path = gate.fill({**NONE, **names}) + _QUERIES.get(gate.path, "")
        said = dice.choice(bodies) if gate.path.startswith("/tool_calls") else gate.body
        body = b"" if gate.method in ("GET", "DELETE") else alter(dice, said)
        return frame(dice, gate.method, path, body, credential, *dice.choice(_MORE))

    return write


def _list_bodies(canary: str) -> Sequence[Any]:
    call = {"name": "choose", "args": {"one": "first", "either": canary}, "id": canary}
    return (
        call,
        [call, call],
        {"name": "approved", "args": {"amount": 1}, "id": canary},
        {"name": "kept", "args": {}, "id": canary},
        {"name": "calculator", "args": {"expression": "6 * 7"}, "id": "call_1"},
        {"type": "tool_use", "id": canary, "name": "calculator", "input": {"expression": "1 /"}},
        {"insist": True},
    )


def _list_messages(canary: str) -> Sequence[Any]:
    def say(method: str, **params: Any) -> Any:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    return (
        say("tools/list"),
        say("tools/call", name="choose", arguments={"one": "second", "either": canary}),
        say("tools/call", name="approved", arguments={"amount": 1}, requestState="{approval}"),
        say("resources/read", uri="sidecall:///contents/{content}"),
    )


def _fill(message: Any, names: Names) -> Any:
    text = json.dumps(message)
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return json.loads(text)
