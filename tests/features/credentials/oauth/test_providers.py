"""What an operator may write of providers, and what an issuer may say of itself."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pydantic import ValidationError

from sidecall import Registry
from sidecall.features.audit.auditor import Auditor
from sidecall.features.audit.stores import MemoryAudit
from sidecall.features.credentials.encryption import Sealer
from sidecall.features.credentials.oauth.authorization_flow import Invitation, LinkInvalid
from sidecall.features.credentials.oauth.provider_client import OAuthProvider, ProviderEndpoints
from sidecall.features.credentials.oauth.providers import ProviderSettings, read_providers
from sidecall.features.credentials.oauth.settings import SignInUrls
from sidecall.features.credentials.oauth.tokens import open_sign_in
from sidecall.features.credentials.own_secrets import UnsupportedSecrets
from sidecall.features.credentials.stores import MemorySecrets
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.user_tokens import TokenUnavailable
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.credentials.oauth.mail import TOOLS
from tests.kit.callers.provider import CLIENT_ID, CLIENT_SECRET, PUBLIC_URL, Browser, LocalProvider
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.callers.waiting import begin_to_wait, wait_for_answer

TOML = """
[hub]
authorization_endpoint = "https://hub.example/authorize"
token_endpoint = "https://hub.example/token"
client_id = "me"
client_secret = "${HUB_SECRET}"
"""
WHOLE = {"authorization_endpoint": "https://a.example/", "token_endpoint": "https://a.example/t", "client_id": "me"}


def test_a_file_or_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TOML or JSON; secrets come from the environment, or a file."""
    monkeypatch.setenv("HUB_SECRET", "from outside")
    (tmp_path / "oauth.toml").write_text(TOML)
    (tmp_path / "secret").write_text("from a file\n")
    as_json = json.dumps({"hub": {**WHOLE, "client_secret_file": str(tmp_path / "secret")}})

    found = [read_providers(text)["hub"].read_secret() for text in (TOML, str(tmp_path / "oauth.toml"), as_json)]

    assert found == ["from outside", "from outside", "from a file"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/nowhere.toml", "there is no such file, or it cannot be read"),
        ("{", "it is neither TOML nor JSON"),
        ("{}", "it names no provider"),
        (TOML, "the variable HUB_SECRET, which it names, is not set"),
        ({"a b": WHOLE}, "'a b' is no name of a provider"),
        ({"hub": {"client_id": "me"}}, "hub: Value error, write authorization_endpoint and token_endpoint, or"),
        ({"hub": {**WHOLE, "token_endpoint": "http://a.example/"}}, "hub.token_endpoint: String should match"),
        ({"hub": {**WHOLE, "client_secrets": "x"}}, "hub.client_secrets: Extra inputs are not permitted"),
        ({"hub": {**WHOLE, "params": {"state": "x"}}}, "hub: Value error, params has 'state'"),
        ({"hub": {**WHOLE, "client_secret_file": "/nowhere"}}, "hub: the file of its client_secret cannot be read"),
        (
            {"hub": {**WHOLE, "client_secret": "x", "token_endpoint_auth_method": "none"}},
            "hub: Value error, token_endpoint_auth_method is none",
        ),
    ],
)
def test_what_is_wrong_stops_the_start(monkeypatch: pytest.MonkeyPatch, text: Any, expected: str) -> None:
    """It is said what, without what may be a secret."""
    monkeypatch.delenv("HUB_SECRET", raising=False)
    with pytest.raises(ValidationError) as refused:
        Settings(oauth=text if isinstance(text, str) else json.dumps(text), public_url=PUBLIC_URL)

    assert expected in refused.value.errors()[0]["msg"]


def test_it_takes_a_key_and_a_way_back() -> None:
    """Tokens are not kept as they are, and persons have to find back."""
    oauth = json.dumps({"hub": WHOLE})

    with pytest.raises(ValidationError, match="SIDECALL_OAUTH takes SIDECALL_PUBLIC_URL"):
        Settings(oauth=oauth)
    with pytest.raises(ValidationError, match="write an address such as"):
        Settings(public_url="tools.example.com")
    with pytest.raises(UnsupportedSecrets, match="set SIDECALL_SECRETS_KEY"):
        create_app(Settings(oauth=oauth, public_url=PUBLIC_URL), Registry())


def test_a_provider_that_nobody_names_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The tool fails when it is called."""
    create_app(Settings(), Registry(TOOLS[:1]))

    assert "tool list_mail takes a token of hub, which SIDECALL_OAUTH lacks" in caplog.text


NO_SERVICES = dict.fromkeys(("authorization_endpoint", "token_endpoint", "revocation_endpoint"))
CALLER = Caller("ada")


def find_provider(provider: LocalProvider, **changes: Any) -> dict[str, ProviderSettings]:
    """Read settings of a provider that says itself where it is asked."""
    provider.issuer = provider.url
    return read_providers(provider.write_settings(**{**NO_SERVICES, "issuer": provider.url, **changes}))


@pytest.mark.parametrize(
    ("changes", "proof"),
    [
        ({}, f"basic {CLIENT_ID} {CLIENT_SECRET}"),
        ({"token_endpoint_auth_method": "client_secret_post"}, f"form {CLIENT_ID} {CLIENT_SECRET}"),
        ({"client_secret": None}, f"form {CLIENT_ID} None"),
    ],
)
async def test_an_issuer_says_where_it_is_asked(provider: LocalProvider, changes: dict[str, Any], proof: str) -> None:
    """And the server proves who it is in the way that is set."""
    hub = OAuthProvider("hub", find_provider(provider, **changes)["hub"])
    provider.grants["ada-refresh-0"] = "ada"

    assert (await hub.refresh("ada-refresh-0")).access_token == "ada-access-1"
    assert await hub.revoke("ada-access-1", "access_token")
    assert provider.proofs == [proof] * 2


@pytest.mark.parametrize(("issuer", "asked"), [("own", 1), (None, 0), ("https://other.example", 0)])
async def test_only_the_right_issuer_gives_a_token(provider: LocalProvider, issuer: str | None, asked: int) -> None:
    """One that promises to say who it is has to (RFC 9207)."""
    places, sealer, auditor = MemorySecrets(), Sealer([SECRETS_KEY]), Auditor(MemoryAudit())
    signing_in = open_sign_in(find_provider(provider), places, sealer, auditor, SignInUrls(PUBLIC_URL, 60.0))
    address = await signing_in.flows.begin(Invitation(CALLER, "hub"), "browser")
    provider.issuer = provider.url if issuer == "own" else issuer
    state = parse_qs(urlsplit(address).query)["state"][0]
    asking = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    back = parse_qs(urlsplit(provider.authorize("ada", asking)).query)
    came = {name: values[0] for name, values in back.items()}
    with nullcontext() if asked else pytest.raises(LinkInvalid):
        await signing_in.flows.finish(came, "browser")

    assert came["state"] == state
    assert provider.count("authorization_code") == asked


async def test_an_issuer_that_calls_itself_otherwise_is_none(provider: LocalProvider) -> None:
    """Nor one that leads elsewhere without TLS, or that is not there."""
    endpoints = ProviderEndpoints("hub", find_provider(provider)["hub"])

    for issuer, expected in ((None, "no such document"), ("https://other.example", "calls itself")):
        provider.issuer = issuer
        with pytest.raises(TokenUnavailable, match=expected):
            await endpoints.get()


async def test_a_provider_that_fails_lets_the_person_try_again(
    client: httpx.AsyncClient, provider: LocalProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """The call goes on waiting."""
    waiting = await begin_to_wait(client)
    provider.is_down = True
    failed = await Browser(client).sign_in(waiting["sign_in"]["url"])
    provider.is_down = False
    page = await Browser(client).sign_in(waiting["sign_in"]["url"])

    assert (failed.status_code, page.status_code) == (502, 200)
    assert "hub: it answers 503, temporarily_unavailable." in caplog.text
    assert (await wait_for_answer(client, waiting["id"]))["message"]["status"] == "success"
