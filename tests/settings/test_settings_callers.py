"""The settings by which callers are told apart and counted."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import ToolContext, tool
from sidecall.composition.access import warn_of_missing_keys
from sidecall.features.access.api_keys import KeyFile, mint_key
from sidecall.settings import Settings
from tests.kit.clients import MakeClient


@tool
async def who(context: ToolContext) -> str:
    """Say who calls."""
    return context.caller.subject


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("caller_header", "X-Forwarded-User"),
        ("caller_header", "x_user.name"),
        ("rate_limit", "20/second"),
        ("rate_limit", "100/minute"),
        ("rate_limit", "1/hour"),
        ("rate_limit", "999999999/day"),
    ],
)
def test_each_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """Under its name in capitals, with the prefix."""
    monkeypatch.setenv(f"SIDECALL_{name.upper()}", text)

    assert getattr(Settings(), name) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("caller_header", "X Forwarded User"),
        ("caller_header", "X-Forwarded-User:"),
        ("caller_header", "X-Förwarded-User"),
        ("gateways", "10.0.0.0/33"),
        ("gateways", "gateway.example.com"),
        ("auth", "none,api_key"),
        ("jwt_issuer", "http://issuer.example.com"),
        ("jwt_keys_url", "issuer.example.com/keys"),
        ("jwt_keys_url", "http://localhost.example.com/keys"),
        ("auth", "api_key,api_key"),
        ("rate_limit", "100"),
        ("rate_limit", "0/minute"),  # nobody could call at all
        ("rate_limit", "-1/minute"),
        ("rate_limit", "1.5/minute"),
        ("rate_limit", "100/week"),
        ("rate_limit", "100 / minute"),
        ("rate_limit", "100/minutes"),
        ("rate_limit", "100 per minute"),
        ("rate_limit", "1000000000/day"),
    ],
)
def test_what_is_neither_stops_the_start(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """A limit that was set and does not hold is worse than a server that does not start."""
    monkeypatch.setenv(f"SIDECALL_{name.upper()}", text)

    with pytest.raises(ValidationError) as caught:
        Settings()

    assert [(error["loc"], error["type"]) for error in caught.value.errors()] == [((name,), "value_error")]


@pytest.mark.parametrize(
    ("header", "subject"), [("X-Forwarded-User", "ann"), ("X-Other", "anonymous"), (None, "anonymous")]
)
async def test_a_header_says_who_calls(make_client: MakeClient, header: str | None, subject: str) -> None:
    """The setting `caller_header`."""
    client = await make_client(who, caller_header=header)

    response = await client.post("/tool_calls", json={"name": "who", "args": {}}, headers={"X-Forwarded-User": "ann"})

    assert response.json()["content"] == subject


@pytest.mark.parametrize(("rate", "statuses"), [("1/day", [200, 429]), ("2/day", [200, 200]), (None, [200, 200])])
async def test_a_caller_may_make_so_many_calls(make_client: MakeClient, rate: str | None, statuses: list[int]) -> None:
    """The setting `rate_limit`."""
    client = await make_client(who, rate_limit=rate)

    answers = [await client.post("/tool_calls", json={"name": "who", "args": {}}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == statuses


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("hosts", "https://tools.example.com", "is no host"),
        ("hosts", "tools.example.com:8000", "is no host"),
        ("hosts", "cafe:8000", "is no host"),
        ("hosts", "tools.*.com", "is no host"),
        ("hosts", "*example.com", "is no host"),
        ("hosts", "bücher.example", "is no host"),
        ("hosts", "a b", "is no host"),
        ("origins", "app.example.com", "is no origin"),
        ("origins", "https://app.example.com/page", "is no origin"),
        ("origins", "https://*.example.com", "is no origin"),
        ("origins", "*", "is no origin"),
        ("origins", "null", "is no origin"),
        ("origins", "https://", "is no origin"),
    ],
)
def test_what_names_no_host_or_origin_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, complaint: str
) -> None:
    """It would let in nobody, or more than was meant."""
    monkeypatch.setenv(f"SIDECALL_{name.upper()}", text)

    with pytest.raises(ValidationError, match=complaint) as caught:
        Settings()

    assert [error["loc"] for error in caught.value.errors()] == [(name,)]


@pytest.mark.parametrize(("hosts", "status"), [((), 421), (("tools.example.com",), 200), (("*.example.com",), 200)])
async def test_a_server_has_more_names(make_client: MakeClient, hosts: tuple[str, ...], status: int) -> None:
    """The setting `hosts`."""
    client = await make_client(who, hosts=hosts)

    response = await client.get("/tools", headers={"Host": "tools.example.com"})

    assert response.status_code == status


@pytest.mark.parametrize(("origins", "status"), [((), 403), (("https://app.example.com",), 200)])
async def test_web_pages_may_use_it(make_client: MakeClient, origins: tuple[str, ...], status: int) -> None:
    """The setting `origins`."""
    client = await make_client(who, origins=origins)

    response = await client.get("/tools", headers={"Origin": "https://app.example.com"})

    assert response.status_code == status
    assert response.headers.get("access-control-allow-origin") == (origins[0] if origins else None)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"auth": "gateway"}, "say in SIDECALL_CALLER_HEADER in which header it names callers"),
        ({"auth": "jwt"}, "set SIDECALL_JWT_ISSUER and SIDECALL_JWT_AUDIENCE"),
        ({"gateways": "10.0.0.1"}, "SIDECALL_GATEWAYS has no effect without SIDECALL_CALLER_HEADER"),
        ({"tenant_header": "X-Tenant"}, "SIDECALL_TENANT_HEADER has no effect without SIDECALL_CALLER_HEADER"),
        ({"scopes_header": "X-Scopes"}, "SIDECALL_SCOPES_HEADER has no effect without SIDECALL_CALLER_HEADER"),
    ],
)
def test_what_needs_another_setting_says_so(settings: dict[str, str], complaint: str) -> None:
    """A setting that has no effect would be taken for one that has."""
    with pytest.raises(ValidationError, match=complaint):
        Settings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "headers", "answered"),
    [
        # Named by a header, as before; believed from everybody, or from those who are named.
        ({"scopes_header": "X-Scopes"}, {"X-User": "ann", "X-Scopes": "a b"}, ("ann", "default", ["a", "b"])),
        ({"tenant_header": "X-Tenant"}, {"X-User": "ann", "X-Tenant": "acme"}, ("ann", "acme", ["*"])),
        ({"gateways": "10.0.0.1"}, {"X-User": "ann"}, ("anonymous", "default", ["*"])),
        ({"gateways": "127.0.0.0/8"}, {"X-User": "ann"}, ("ann", "default", ["*"])),
        # Proved by a gateway, on loopback unless others are named.
        ({"auth": "gateway"}, {"X-User": "ann"}, ("ann", "default", ["*"])),
        ({"auth": "gateway"}, {}, None),
        ({"auth": "gateway", "gateways": "10.0.0.1"}, {"X-User": "ann"}, None),
    ],
)
async def test_a_gateway_is_believed_where_it_is_named(
    make_client: MakeClient, settings: dict[str, str], headers: dict[str, str], answered: tuple[str, str, list[str]]
) -> None:
    """The settings `auth`, `tenant_header`, `scopes_header` and `gateways`; the client's address is 127.0.0.1."""
    client = await make_client(who, caller_header="X-User", **settings)

    response = await client.get("/whoami", headers=headers)

    said = tuple(response.json().get(name) for name in ("subject", "tenant", "scopes"))
    assert (said if response.status_code == 200 else None) == answered


def test_a_start_at_which_no_key_is_valid_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Else all that an operator sees is that everybody is refused."""
    file = KeyFile(tmp_path / "keys.jsonl")
    _, key = mint_key("agent")
    told = []
    for keys in ([], [key.revoke()], [key]):
        file.change(lambda _present, keys=keys: keys)
        caplog.clear()
        warn_of_missing_keys(Settings(auth=("api_key",), keys_file=file.path))
        told.append(caplog.messages)

    said = (
        f"no key in {file.path} is valid, so nobody can call with one: make one with `sidecall keys new NAME`, which "
        "is taken without a restart"
    )
    assert told == [[said], [said], []]


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("HS256", [(("jwt_algorithms", 0), "literal_error")]),
        ("RS256,none", [(("jwt_algorithms", 1), "literal_error")]),
        (",", [(("jwt_algorithms",), "value_error")]),
    ],
)
def test_an_algorithm_that_is_none_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch, text: str, errors: list[Any]
) -> None:
    """The list is not called too short as well."""
    monkeypatch.setenv("SIDECALL_JWT_ALGORITHMS", text)

    with pytest.raises(ValidationError) as caught:
        Settings()

    assert [(error["loc"], error["type"]) for error in caught.value.errors()] == errors
