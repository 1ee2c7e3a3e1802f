"""A token says who calls, if its issuer made it for this server and it has not ended."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import respx
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from sidecall.features.access.auth_methods import IssuerUnreachable
from sidecall.features.access.jwks import IssuerKeys
from sidecall.features.access.tokens import TokenRules, Tokens
from sidecall.http.authentication import BadCredential
from sidecall.kernel.core.context import Caller
from tests.kit.callers.tokens import AUDIENCE, ISSUER, KEYS_URL, Issuer

NOW = int(time.time())
ANN = Caller("ann", "default", frozenset({"tools:call"}))


class Desk:
    """An issuer, and a server that takes its tokens, on clocks that a test sets."""

    def __init__(self, router: respx.Router, **rules: Any) -> None:
        self.issuer = Issuer(router)
        self.ahead = 0.0
        said = {"issuer": ISSUER, "audience": [AUDIENCE, "sidecall"], "algorithms": ["ES256", "RS256"], **rules}
        self.keys = IssuerKeys(ISSUER, said.pop("keys_url", KEYS_URL), lambda: self.ahead)
        self.tokens = Tokens(TokenRules(**said), self.keys, lambda: time.time() + self.ahead)

    async def ask(self, token: str) -> Caller:
        """Recognize a request with this token."""
        found = self.tokens.recognize({"headers": [(b"authorization", f"Bearer {token}".encode("latin-1"))]})
        assert found is not None
        return found if isinstance(found, Caller) else await found

    async def refuses(self, token: str) -> bool:
        """Return whether a token is refused, in the words for every credential that is none."""
        try:
            await self.ask(token)
        except BadCredential as error:
            return error.message == "This server does not know the credential, or it is no longer valid."
        return False


@pytest.fixture
def router() -> Iterator[respx.Router]:
    """Answer for the issuer."""
    with respx.mock(assert_all_called=False) as mocked:
        yield mocked


@pytest.fixture
def desk(router: respx.Router) -> Desk:
    """Give a desk."""
    return Desk(router)


@pytest.mark.parametrize(
    ("changes", "caller"),
    [
        ({}, ANN),
        ({"aud": ["other", "sidecall"]}, ANN),
        ({"scope": "a b  c"}, Caller("ann", scopes=frozenset("abc"))),
        ({"scope": ["a", "b"]}, Caller("ann", scopes=frozenset("ab"))),
        ({"scope": None}, Caller("ann")),
        ({"ends_in": -10}, ANN),  # The clocks of two machines differ.
        ({"tenant": "acme"}, ANN),  # Which nobody has named.
    ],
)
async def test_a_good_token_names_its_caller(desk: Desk, changes: dict[str, Any], caller: Caller) -> None:
    """With the scopes that it says, and what it was made for."""
    assert await desk.ask(desk.issuer.sign(**changes)) == caller


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example.com"},
        {"iss": None},
        {"aud": "https://other.example.com"},
        {"aud": ["other"]},
        {"aud": []},
        {"aud": None},
        {"ends_in": -100},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": NOW + 100_000},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "a\nb"},
        {"sub": "a" * 257},
        {"scope": 7},
        {"scope": [7]},
    ],
)
async def test_a_token_for_others_or_of_another_time_is_refused(desk: Desk, changes: dict[str, Any]) -> None:
    """And one that does not say whose it is."""
    assert await desk.refuses(desk.issuer.sign(**changes))


async def test_a_token_that_was_not_signed_by_the_issuer_is_refused(desk: Desk) -> None:
    """By nobody, by another, with what is published as a secret, in a way that is not allowed, or changed since."""
    good = desk.issuer.sign()
    head, body, signature = good.split(".")
    others = ECKey.generate_key("P-256", {"kid": "first"})
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    public = json.dumps(desk.issuer.keys["first"].as_dict(private=False))
    none = base64.urlsafe_b64encode(b'{"alg":"none","kid":"first"}').rstrip(b"=").decode()
    more = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "bob"}).encode()).rstrip(b"=").decode()
    desk.issuer.add("rsa", RSAKey.generate_key(2048, {"kid": "rsa"}))
    wrong = [
        f"{none}.{body}.",
        f"{none}.{body}.{signature}",
        jwt.encode({"alg": "ES256", "kid": "first"}, claims, others),
        jwt.encode({"alg": "HS256", "kid": "first"}, claims, OctKey.import_key(public), algorithms=["HS256"]),
        desk.issuer.sign("rsa", {"alg": "PS256"}),
        f"{head}.{more}.{signature}",
        f"{head}.{body}.{signature[:-4]}AAAA",
        f"{head}.{body}",
        "a.b.c",
        "",
        "\xff.\xff.\xff",
        "sidecall_key",
    ]

    assert [await desk.refuses(token) for token in wrong] == [True] * len(wrong)
    assert await desk.ask(desk.issuer.sign("rsa", {"alg": "RS256"})) == ANN


async def test_a_tenant_is_read_where_it_was_said_where(router: respx.Router) -> None:
    """A token without one is of no tenant, and refused; scopes may have another name too."""
    desk = Desk(router, tenant="org", scopes="scp")

    assert await desk.ask(desk.issuer.sign(org="acme", scp=["a"])) == Caller("ann", "acme", frozenset("a"))
    assert await desk.refuses(desk.issuer.sign())
    assert await desk.refuses(desk.issuer.sign(org=""))


async def test_a_token_is_looked_at_once_a_minute_and_never_after_its_end(desk: Desk) -> None:
    """What is known needs no waiting."""
    token = desk.issuer.sign(ends_in=90)
    scope = {"headers": [(b"authorization", f"Bearer {token}".encode())]}
    await desk.ask(token)

    assert desk.tokens.recognize(scope) == ANN
    desk.ahead = 61
    assert not isinstance(found := desk.tokens.recognize(scope), Caller)
    assert found is not None
    assert await found == ANN
    desk.ahead = 125
    assert await desk.refuses(token)


async def test_new_keys_are_fetched_when_they_are_used(desk: Desk) -> None:
    """Though not more than once in half a minute, no matter which keys tokens name."""
    await desk.ask(desk.issuer.sign())
    desk.issuer.add("second")
    desk.ahead = 31

    assert await desk.ask(desk.issuer.sign("second")) == ANN
    unknown = [desk.issuer.sign(header={"kid": f"none-{number}"}) for number in range(5)]
    assert [await desk.refuses(token) for token in unknown] == [True] * 5
    assert desk.issuer.asked.call_count == 2


async def test_keys_that_are_published_no_more_open_nothing_after_a_while(desk: Desk) -> None:
    """Ten minutes, after which they are fetched again."""
    old = desk.issuer.sign(ends_in=10_000)
    await desk.ask(old)
    desk.issuer.add("second")
    del desk.issuer.keys["first"]
    desk.ahead = 601

    assert await desk.refuses(old)


async def test_while_the_issuer_cannot_be_asked_what_is_known_does(desk: Desk) -> None:
    """For a day; where nothing is known nobody can be told, and is asked to come again."""
    token = desk.issuer.sign(ends_in=1_000_000)
    desk.issuer.asked.mock(side_effect=httpx.ConnectError("no"))
    with pytest.raises(IssuerUnreachable):
        await desk.ask(token)
    desk.issuer.asked.mock(side_effect=lambda _: httpx.Response(200, json=desk.issuer.published()))
    desk.ahead = 31
    await desk.ask(token)
    desk.issuer.asked.mock(return_value=httpx.Response(500))
    desk.ahead = 10_000

    assert await desk.ask(token) == ANN
    desk.ahead = 100_000
    with pytest.raises(IssuerUnreachable):
        await desk.ask(token)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"keys": []}),
        httpx.Response(302, headers={"Location": "https://other.example.com"}),
        httpx.Response(200, content=b" " * 1_100_000),
    ],
)
async def test_what_is_no_set_of_keys_is_none(desk: Desk, answer: httpx.Response) -> None:
    """Neither a page, nor one that is somewhere else, nor one without end."""
    desk.issuer.asked.mock(return_value=answer)

    with pytest.raises(IssuerUnreachable):
        await desk.ask(desk.issuer.sign())


@pytest.mark.parametrize(
    ("said", "is_known"),
    [
        ({"issuer": ISSUER, "jwks_uri": KEYS_URL}, True),
        ({"issuer": "https://other.example.com", "jwks_uri": KEYS_URL}, False),
        ({"issuer": ISSUER, "jwks_uri": KEYS_URL.replace("https", "http")}, False),
        ({"issuer": ISSUER}, False),
    ],
)
async def test_an_issuer_says_where_its_keys_are(router: respx.Router, said: dict[str, str], is_known: bool) -> None:
    """As OpenID Connect has it, where no address was given."""
    desk = Desk(router, keys_url=None)
    router.get(f"{ISSUER}/.well-known/openid-configuration").mock(return_value=httpx.Response(200, json=said))

    if is_known:
        assert await desk.ask(desk.issuer.sign()) == ANN
    else:
        with pytest.raises(IssuerUnreachable):
            await desk.ask(desk.issuer.sign())
