"""Callers keep secrets here for their own calls, and nobody reads them again."""

import logging
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest

from sidecall import Registry, Secret, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.callers.secrets import NEWER_KEY, SECRETS_KEY
from tests.kit.clients import MakeClient


def spell(text: str | None) -> str:
    """Write a secret so that it is not masked."""
    return "-".join(text or "none")


@tool
async def either(key: Annotated[str | None, Secret("KEY")] = None) -> str:
    """Take the caller's, or the server's."""
    return spell(key)


@tool
async def server(key: Annotated[str | None, Secret("KEY", of="server")] = None) -> str:
    """Take the server's."""
    return spell(key)


@tool
async def caller(key: Annotated[str, Secret("KEY", of="caller")]) -> str:
    """Take the caller's."""
    return spell(key)


@tool(executor="process")
def apart(
    own: Annotated[str | None, Secret("KEY", of="caller")] = None,
    theirs: Annotated[str | None, Secret("KEY", of="server")] = None,
) -> str:
    """Take both, in a process."""
    return f"{spell(own)} {spell(theirs)}"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give settings with a key, and a folder for the server's own secrets."""
    monkeypatch.delenv("KEY", raising=False)
    return {"secrets_key": SECRETS_KEY, "secrets_dir": tmp_path, "caller_header": "X-Caller"}


@pytest.fixture
async def client(make_client: MakeClient, settings: Any) -> httpx.AsyncClient:
    """Give a client of a server that knows its callers."""
    return await make_client(either, server, caller, **settings)


def _as(who: str) -> dict[str, str]:
    return {"X-Caller": who}


async def _put(client: httpx.AsyncClient, value: Any, name: str = "KEY", who: str = "ada") -> httpx.Response:
    return await client.put(f"/secrets/{name}", json={"value": value}, headers=_as(who))


async def _call(client: httpx.AsyncClient, name: str, who: str = "ada") -> str:
    call = {"name": name, "args": {}, "id": "call_1"}
    return str((await client.post("/tool_calls", json=call, headers=_as(who))).json()["content"])


LOST = (
    "Error: either cannot run: this server cannot decrypt your secret KEY any more. "
    "Send it again with PUT /secrets/KEY."
)
UNSET = "Error: caller is not configured here, so it cannot run (call call_1). The details are in the server's log."


@pytest.mark.parametrize(
    ("own", "theirs", "expected"),
    [
        (None, None, ["n-o-n-e", "n-o-n-e", UNSET]),
        (None, "theirs", ["t-h-e-i-r-s", "t-h-e-i-r-s", UNSET]),
        ("mine", None, ["m-i-n-e", "n-o-n-e", "m-i-n-e"]),
        ("mine", "theirs", ["m-i-n-e", "t-h-e-i-r-s", "m-i-n-e"]),
    ],
)
async def test_a_tool_says_whose_secret_it_takes(
    client: httpx.AsyncClient, tmp_path: Path, own: str | None, theirs: str | None, expected: list[str]
) -> None:
    """Without a word the caller's, where there is one."""
    if own is not None:
        assert (await _put(client, own)).status_code == 204
    if theirs is not None:
        (tmp_path / "KEY").write_text(theirs)

    assert [await _call(client, name) for name in ("either", "server", "caller")] == expected
    assert await _call(client, "either", "bob") == spell(theirs)


async def test_a_tool_in_a_process_gets_both(make_client: MakeClient, settings: Any, tmp_path: Path) -> None:
    """Each from where it wants it."""
    client = await make_client(apart, processes=1, **settings)
    (tmp_path / "KEY").write_text("theirs")
    await _put(client, "mine")

    assert await _call(client, "apart") == "m-i-n-e t-h-e-i-r-s"
    assert await _call(client, "apart", "bob") == "n-o-n-e t-h-e-i-r-s"


async def test_secrets_are_listed_without_their_values(client: httpx.AsyncClient) -> None:
    """Each caller's own."""
    await _put(client, "canary-1", "B")
    await _put(client, "canary-2", "A")
    listed = await client.get("/secrets", headers=_as("ada"))

    assert [secret["name"] for secret in listed.json()] == ["A", "B"]
    assert "canary" not in listed.text
    assert (await client.get("/secrets", headers=_as("bob"))).json() == []
    assert (await client.get("/secrets/A", headers=_as("ada"))).status_code == 405


async def test_a_secret_is_deleted_by_its_caller(client: httpx.AsyncClient) -> None:
    """Of others there is none of this name."""
    await _put(client, "mine")
    answers = [await client.delete("/secrets/KEY", headers=_as(who)) for who in ("bob", "ada", "ada")]

    assert [answer.status_code for answer in answers] == [404, 204, 404]
    assert await _call(client, "either") == "n-o-n-e"


@pytest.mark.parametrize(
    "body",
    [{}, {"value": ""}, {"value": 7}, {"value": ["canary"]}, {"value": "canary", "more": 1}, "canary", []],
)
async def test_what_is_no_secret_is_refused_without_being_repeated(client: httpx.AsyncClient, body: Any) -> None:
    """It may be one."""
    answer = await client.put("/secrets/KEY", json=body, headers=_as("ada"))

    assert (answer.status_code, answer.json()["type"]) == (422, "urn:sidecall:problem:invalid-secret")
    assert "canary" not in answer.text


@pytest.mark.parametrize("name", ["1KEY", "a b", "x" * 129, "KÄY"])
async def test_a_name_is_one_that_a_tool_can_ask_for(client: httpx.AsyncClient, name: str) -> None:
    """Other ones are refused."""
    assert (await _put(client, "value", name)).status_code == 422


async def test_without_a_key_there_are_none(make_client: MakeClient, settings: Any) -> None:
    """The answer says what the operator would set."""
    client = await make_client(either, **{**settings, "secrets_key": None})
    answer = await _put(client, "value")

    assert (answer.status_code, answer.json()["type"]) == (404, "urn:sidecall:problem:secrets-off")
    assert "SIDECALL_SECRETS_KEY" in answer.json()["detail"]


async def test_the_key_may_be_in_a_file(make_client: MakeClient, settings: Any, tmp_path: Path) -> None:
    """The setting `secrets_key_file`."""
    (tmp_path / "key").write_text(f"{SECRETS_KEY}\n")
    client = await make_client(either, **{**settings, "secrets_key": None, "secrets_key_file": tmp_path / "key"})
    await _put(client, "mine")

    assert await _call(client, "either") == "m-i-n-e"


async def test_setting_and_deleting_are_written_down(client: httpx.AsyncClient) -> None:
    """Not the value."""
    await _put(client, "canary")
    await client.delete("/secrets/KEY", headers=_as("ada"))
    entries = await client.get("/audit", headers=_as("eve"))

    assert [(entry["action"], entry["by"], entry["target"]) for entry in entries.json()] == [
        ("secret_deleted", "ada", "KEY"),
        ("secret_set", "ada", "KEY"),
    ]
    assert "canary" not in entries.text


@pytest.mark.parametrize(
    ("key", "content", "told"),
    [
        (f"{NEWER_KEY} {SECRETS_KEY}", "m-i-n-e", "secrets of callers that were encrypted anew with the first key: 1"),
        (NEWER_KEY, LOST, "secrets of callers that no key of SIDECALL_SECRETS_KEY decrypts: 1"),
        (None, LOST, "secrets of callers are kept here, and there is no SIDECALL_SECRETS_KEY to decrypt them"),
    ],
    ids=["changed", "wrong", "lost"],
)
async def test_a_key_that_is_not_the_same_any_more(
    make_client: MakeClient, settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture,
    key: str | None, content: str, told: str,
) -> None:  # fmt: skip
    """The log says it at the start; the caller is told what helps, and never gets the server's instead."""
    (tmp_path / "KEY").write_text("theirs")
    caplog.set_level(logging.INFO, "sidecall")
    kept = {**settings, "store": f"sqlite:///{tmp_path / 'ledger.db'}", "history": "off"}
    app = create_app(Settings(**kept), Registry([either]))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall") as before,
    ):
        await _put(before, "mine")

    client = await make_client(either, server, **{**kept, "secrets_key": key})

    assert told in caplog.messages
    assert (await client.get("/readyz")).status_code == 200
    assert await _call(client, "either") == content
    assert await _call(client, "either", "bob") == await _call(client, "server") == "t-h-e-i-r-s"
    assert len((await client.get("/secrets", headers=_as("ada"))).json()) == 1
    assert (await _put(client, "newer")).status_code == (404 if key is None else 204)
    assert await _call(client, "either") == (LOST if key is None else "n-e-w-e-r")


@pytest.mark.parametrize(
    ("by_server", "by_ada", "is_set"),
    [
        (False, False, {"either": False, "server": False, "caller": False}),
        (True, False, {"either": True, "server": True, "caller": False}),
        (False, True, {"either": True, "server": False, "caller": True}),
    ],
)
async def test_a_tool_says_whether_its_secrets_are_set(
    client: httpx.AsyncClient, tmp_path: Path, *, by_server: bool, by_ada: bool, is_set: dict[str, bool]
) -> None:
    """For the caller who asks, and never their values."""
    if by_server:
        (tmp_path / "KEY").write_text("of-the-server")
    if by_ada:
        await _put(client, "of-ada")

    shown = {name: (await client.get(f"/tools/{name}", headers=_as("ada"))).json()["injected"] for name in is_set}
    of_others = (await client.get("/tools/caller", headers=_as("eve"))).json()["injected"]

    assert {name: it["is_set"] for name, [it] in shown.items()} == is_set
    assert of_others[0]["is_set"] is False
    assert shown["caller"][0] == {
        "name": "key",
        "from": "secret",
        "path": "KEY",
        "schema": {"type": "string"},
        "required": True,
        "of": "caller",
        "is_set": by_ada,
    }
