"""Every route with every wrong credential: the answer is as the table has it, and nothing else comes with it."""

import asyncio
import gc
import sys
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
import pytest
import respx
from starlette.routing import Mount

from sidecall import Registry
from sidecall.features.access.api_keys import KeyFile, mint_key
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import BOTH_WAYS
from tests.kit.callers.keys import write_keys
from tests.kit.callers.planted import CANARY, TOOLS, plant
from tests.kit.callers.requests import BY_LINK, BY_PAGE, GATES, MCP_GATES, OPEN, Gate
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.callers.tokens import AUDIENCE, ISSUER, KEYS_URL, Issuer
from tests.kit.clients import MakeClient

ALL_GATES = [*GATES, *MCP_GATES]
JWT = {"jwt_issuer": ISSUER, "jwt_keys_url": KEYS_URL, "jwt_audience": AUDIENCE}
CHALLENGE = f'resource_metadata="{AUDIENCE}/.well-known/oauth-protected-resource"'
ASK = "Send a credential in the header `Authorization: Bearer …`; this server serves nobody without one."
REFUSE = "This server does not know the credential, or it is no longer valid."


Headers = dict[str, dict[str, str]]


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """Give an issuer of tokens."""
    with respx.mock(assert_all_called=False) as router:
        yield Issuer(router)


@pytest.fixture
def keys(tmp_path: Path) -> Headers:
    """Give one caller of a tenant everything, another nothing, and one of another tenant everything."""
    path = tmp_path / "keys.jsonl"
    ours = write_keys(path, {"ann": ("*",), "poor": ()}, "acme")
    return {"own": ours["ann"], "poor": ours["poor"], "other": write_keys(path, {"ann": ("*",)}, "zeta")["ann"]}


@pytest.fixture
def wrong(tmp_path: Path, issuer: Issuer) -> Headers:
    """Give everything that opens nothing: keys and tokens."""
    path = tmp_path / "keys.jsonl"
    expired, kept = mint_key("ann", "acme", ("*",), datetime.now(UTC) - timedelta(seconds=1))
    revoked, kept_too = mint_key("ann", "acme", ("*",))
    KeyFile(path).change(lambda present: [*present, kept, kept_too.revoke()])
    issuer.add("theirs")
    forged = issuer.sign("theirs", {"kid": "first"}, scope="*")
    tokens = {
        "bad key": "sidecall_wrong",
        "expired key": expired,
        "revoked key": revoked,
        "bad token": "a.b.c",
        "forged token": forged,
        "expired token": issuer.sign(scope="*", ends_in=-3600),
        "wrong audience": issuer.sign(scope="*", aud="https://other.example.com"),
        "wrong issuer": issuer.sign(scope="*", iss="https://other.example.com"),
    }
    return {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()} | {
        "bad key in its header": {"X-API-Key": "sidecall_wrong"},
        "a key and a token": {"X-API-Key": revoked, "Authorization": f"Bearer {issuer.sign(scope='*')}"},
    }


@pytest.fixture
async def client(make_client: MakeClient, keys: Headers, wrong: Headers, tmp_path: Path) -> httpx.AsyncClient:
    """Give a client of a server that takes keys and tokens."""
    access = {"auth": "api_key,jwt", "keys_file": tmp_path / "keys.jsonl", "secrets_key": SECRETS_KEY, **JWT}
    access["toolkits"] = ("file_search",)
    return await make_client(*TOOLS, **access)


def test_every_route_has_its_row() -> None:
    """A new route says there what it answers to whom; the last part of a path may be called otherwise."""
    routes = set()
    for route in create_app(Settings(toolkits=("file_search",)), Registry()).router.routes:
        methods = getattr(route, "methods", None) or {"GET"}
        if not isinstance(route, Mount):
            routes |= {(method, _shape(route.path)) for method in methods - {"HEAD"}}  # type: ignore[attr-defined]

    told = {(gate.method, _shape(gate.path)) for gate in ALL_GATES} | {("GET", _shape(path)) for path in OPEN}
    told |= {*BY_LINK, *((method, _shape(path)) for method, path in BY_PAGE)}
    # Assets are a folder, and MCP answers every method at one path.
    assets = {("GET", "/docs/assets/swagger-ui.css")}
    assert told - assets - {("POST", "/mcp"), ("DELETE", "/mcp")} == routes


def _shape(path: str) -> str:
    below = path.replace("/.well-known/oauth-protected-resource/below", "/.well-known/oauth-protected-resource/{}")
    return "/".join("{}" if part.startswith("{") else part for part in below.split("/"))


@BOTH_WAYS
async def test_no_wrong_credential_opens_anything(client: httpx.AsyncClient, wrong: Headers) -> None:
    """401 for each route, with the same words for each fault; `HEAD` is as `GET`."""
    credentials: dict[str, dict[str, str]] = {"none": {}, "basic": {"Authorization": "Basic YTpi"}, **wrong}
    planted = dict.fromkeys(_NAMES, "01890a5d-ac96-774b-bcce-b302099a8057")
    asked = [(gate.method, gate.fill(planted)) for gate in ALL_GATES]
    asked += [("HEAD", path) for method, path in asked if method == "GET"] + [("GET", "/nowhere")]
    asked += [(method, f"{path}/") for method, path in asked]

    answers = {
        (method, path, name): await client.request(method, path, headers=headers)
        for method, path in asked
        for name, headers in credentials.items()
    }

    assert {asked for asked, answer in answers.items() if answer.status_code != 401} == set()
    for (method, path, name), answer in answers.items():
        has_none = name in ("none", "basic")
        asks = ASK if has_none else REFUSE
        said = "" if has_none else ', error="invalid_token"'
        assert answer.headers["WWW-Authenticate"] == f'Bearer realm="sidecall"{said}, {CHALLENGE}'
        if method != "HEAD":
            assert answer.json() == {
                "type": "urn:sidecall:problem:unauthenticated",
                "title": "The request does not prove who sends it.",
                "status": 401,
                "detail": asks,
                "instance": answer.headers["X-Request-Id"],
                **(_for_openai(asks) if path.startswith(("/files", "/vector_stores")) else {}),
            }


def _for_openai(asks: str) -> dict[str, Any]:
    error = {"message": asks, "type": "invalid_request_error", "code": "unauthenticated", "param": None}
    return {"error": error}


async def test_what_is_open_is_open_to_all_of_them(client: httpx.AsyncClient, wrong: Headers, keys: Headers) -> None:
    """And says nothing of what anybody has."""
    await plant(client, keys["own"])
    answers = [await client.get(path, headers=headers) for path in OPEN for headers in ({}, *wrong.values())]

    assert {answer.status_code for answer in answers} == {200, 307}
    assert not any(CANARY in answer.text for answer in answers)


@BOTH_WAYS
@pytest.mark.parametrize("behind", ["", "/"], ids=["as it is", "with a slash"])
async def test_each_answers_as_the_table_has_it(client: httpx.AsyncClient, keys: Headers, behind: str) -> None:
    """To whom lacks every scope, to another tenant, and to whom it belongs: what is written, and documented."""
    planted = await plant(client, keys["own"])
    documented = (await client.get("/openapi.json")).json()["paths"]

    found: dict[tuple[str, str], tuple[int, ...]] = {}
    for gate in ALL_GATES:
        answers = [await _ask(client, gate, planted, keys[who], behind) for who in ("poor", "other")]
        answers.append(await _ask(client, gate, await plant(client, keys["own"]), keys["own"], behind))
        found[gate.method, gate.path] = tuple(answer.status_code for answer in answers)
        _check_challenge(gate, answers[0])
        _check_documented(documented, gate, answers)

    assert found == {(gate.method, gate.path): (gate.poor, gate.other, gate.own) for gate in ALL_GATES}


@BOTH_WAYS
async def test_another_tenant_hears_nothing(client: httpx.AsyncClient, keys: Headers) -> None:
    """Neither in a list nor in a refusal; what there is answers as what there is not."""
    planted = await plant(client, keys["own"])
    missing = {name: _misspell(value) for name, value in planted.items()} | {"tool": "look", "new": "OTHER"}

    for gate in ALL_GATES:
        answer = await _ask(client, gate, planted, keys["other"])
        # The numbers of the whole server have the names of its tools, and nothing of their calls.
        assert [value for name, value in planted.items() if name not in _COMMON and value in answer.text] == [], gate
        assert CANARY not in answer.text, gate
        if gate.is_about_one:
            without = await _ask(client, gate, missing, keys["other"])
            assert _without_id(answer) == _without_id(without), gate


_COMMON = ("tool", "new", "provider")  # What both have.


def _check_challenge(gate: Gate, answer: httpx.Response) -> None:
    if answer.status_code == 403:
        assert answer.json()["scope"] == gate.scope
        said = f'Bearer realm="sidecall", error="insufficient_scope", scope="{gate.scope}", {CHALLENGE}'
        assert answer.headers["WWW-Authenticate"] == said
    else:
        assert gate.scope is None


def _check_documented(paths: dict[str, Any], gate: Gate, answers: list[httpx.Response]) -> None:
    if gate in MCP_GATES:
        return
    [operation] = [paths[path][gate.method.lower()] for path in paths if _shape(path) == _shape(gate.path)
                   and gate.method.lower() in paths[path]]  # fmt: skip
    assert {str(answer.status_code) for answer in answers} | {"401"} <= set(operation["responses"]), gate


_NAMES = (
    "tool", "call", "held", "content", "approval", "rule", "secret", "new", "provider", "workspace", "file",
    "store", "upload", "server",
)  # fmt: skip


async def _ask(
    client: httpx.AsyncClient, gate: Gate, names: dict[str, str], headers: dict[str, str], behind: str = ""
) -> httpx.Response:
    path = gate.fill(names) + behind + gate.query
    return await client.request(gate.method, path, json=gate.body, headers=headers)


def _misspell(value: str) -> str:
    return value[:-1] + ("0" if value[-1] != "0" else "1")


def _without_id(answer: httpx.Response) -> Any:
    return answer.status_code, {**answer.json(), "instance": ""}


@pytest.mark.parametrize("store", ["memory://", "sqlite:///{}/ledger.db"], ids=["memory", "sqlite"])
async def test_guesses_take_the_same_way(make_client: MakeClient, tmp_path: Path, store: str) -> None:
    """Step by step: guesses of the ids of another tenant learn nothing from the time that the answers take."""
    # By a gateway's word, which is read each time; a credential is only looked at now and then.
    access = {"auth": "gateway", "caller_header": "X-User", "tenant_header": "X-Tenant", "secrets_key": SECRETS_KEY}
    access["toolkits"] = ("file_search",)
    own, other = ({"X-User": "ann", "X-Tenant": tenant} for tenant in ("acme", "zeta"))
    client = await make_client(*TOOLS, **access, store=store.format(tmp_path), history="off")
    planted = await plant(client, own)
    missing = {name: _misspell(value) for name, value in planted.items()}
    gates = [gate for gate in ALL_GATES if gate.is_about_one]

    # Else each look for cycles below would go through all that the tests before have left.
    gc.collect()
    gc.freeze()
    for gate in gates:
        for names in (planted, missing):
            await _ask(client, gate, names, other)  # What is done once for each path is done.
        # What the server does beside may come in between; a difference that a guess makes is there each time.
        for _ in range(3):
            ways = [await _follow(_ask(client, gate, names, other)) for names in (planted, missing)]
            if ways[0] == ways[1]:
                break
        assert ways[0] == ways[1], gate

    assert len(gates) == 29


async def _follow(asking: Coroutine[Any, Any, httpx.Response]) -> list[str]:
    """Return which functions of ours a request enters, one after the other, in the task that serves it."""
    task, entered = asyncio.current_task(), []

    def note(frame: FrameType, event: str, _: Any) -> None:
        is_ours = event == "call" and "/sidecall/" in frame.f_code.co_filename
        if is_ours and asyncio.current_task() is task:
            entered.append(f"{frame.f_code.co_filename} {frame.f_code.co_qualname}")

    gc.collect()  # What it closes would be among them.
    gc.disable()
    sys.setprofile(note)
    try:
        answer = await asking
    finally:
        sys.setprofile(None)
        gc.enable()
    assert answer.status_code == 404
    return entered
