"""A provider at which persons sign in, on a socket of its own, and a browser that goes there and back."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import httpx

CLIENT_ID, CLIENT_SECRET = "sidecall here", "s3cret of the client: 100%"
PUBLIC_URL = "http://sidecall"
_LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
_FORM = {**_LINK, "Sec-Fetch-Site": "same-origin", "Origin": PUBLIC_URL}


@dataclass
class LocalProvider:
    """An OAuth provider on loopback: its grants, and how it answers; tests change it.

    `grants` has the account of each live refresh token, `valid` that of each access token. Reuse of a refresh token
    revokes all of its account, as RFC 9700 asks.
    """

    port: int = 0
    seconds: int | None = 3600
    allows: bool = True
    rotates: bool = True
    is_down: bool = False
    issuer: str | None = None
    grants: dict[str, str] = field(default_factory=dict)
    valid: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)
    revoked: list[str] = field(default_factory=list)
    number: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        """The address of the provider."""
        return f"http://127.0.0.1:{self.port}"

    def write_settings(self, **changes: Any) -> str:
        """Return how an operator writes it down, under the name `hub`."""
        said = {
            "authorization_endpoint": f"{self.url}/authorize?kind=code",
            "token_endpoint": f"{self.url}/token",
            "revocation_endpoint": f"{self.url}/revoke",
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "scopes": ["repo", "mail"],
            "params": {"prompt": "consent"},
        }
        return json.dumps({"hub": {name: it for name, it in {**said, **changes}.items() if it is not None}})

    def reset(self) -> None:
        """Forget what was before, and answer as in the beginning."""
        fresh = vars(LocalProvider(port=self.port))
        vars(self).update({name: value for name, value in fresh.items() if name != "lock"})

    def count(self, kind: str) -> int:
        """Return how often it was asked for tokens in this way."""
        return sum(asked.get("grant_type") == kind for asked in self.asked)

    def authorize(self, account: str, asked: dict[str, str]) -> str:
        """Approve as the person of an account, and return where the browser is sent."""
        assert asked["client_id"] == CLIENT_ID
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        said = {"state": asked["state"]} | ({} if self.issuer is None else {"iss": self.issuer})
        if not self.allows:
            return (
                f"{asked['redirect_uri']}?{urlencode({**said, 'error': 'access_denied', 'error_description': '<b>'})}"
            )
        self.number += 1
        code = f"code-{self.number}"
        self.codes[code] = {**asked, "account": account}
        return f"{asked['redirect_uri']}?{urlencode({**said, 'code': code})}"

    def answer(self, asked: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Give a token, if what is shown for it is good."""
        if asked["grant_type"] == "authorization_code":
            begun = self.codes.pop(asked["code"], None)
            challenge = base64.urlsafe_b64encode(hashlib.sha256(asked["code_verifier"].encode()).digest()).rstrip(b"=")
            if begun is None or begun["code_challenge"] != challenge.decode():
                return 400, {"error": "invalid_grant"}
            return 200, self._give(begun["account"], None)
        shown = asked["refresh_token"]
        if shown in self.used:
            self.forget(self._account_of(shown))
        if shown not in self.grants:
            return 400, {"error": "invalid_grant", "error_description": "<script>"}
        return 200, self._give(self.grants[shown], shown)

    def forget(self, account: str) -> None:
        """Take no token of an account any more."""
        for known in (self.grants, self.valid):
            for token in [token for token, whose in known.items() if whose == account]:
                del known[token]

    def _account_of(self, token: str) -> str:
        return token.partition("-")[0]

    def _give(self, account: str, shown: str | None) -> dict[str, Any]:
        self.number += 1
        access = f"{account}-access-{self.number}"
        self.valid[access] = account
        said: dict[str, Any] = {"access_token": access, "token_type": "Bearer"}
        if self.seconds is not None:
            said["expires_in"] = self.seconds
        if shown is None or self.rotates:
            said["refresh_token"] = f"{account}-refresh-{self.number}"
            self.grants[said["refresh_token"]] = account
            if shown is not None:
                self.used.add(shown)
                del self.grants[shown]
        return said


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: LocalProvider

    def do_GET(self) -> None:
        """Serve the consent page, the metadata, or the account of a token."""
        url, provider = urlsplit(self.path), self.provider
        if url.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            return self._answer(302, {}, Location=provider.authorize(self.headers["X-Account"], asked))
        if url.path == "/.well-known/openid-configuration" and provider.issuer is not None:
            places = {f"{name}_endpoint": f"{provider.url}/{name}" for name in ("token", "revocation")}
            places["authorization_endpoint"] = f"{provider.url}/authorize"
            promise = {"authorization_response_iss_parameter_supported": True}
            return self._answer(200, {"issuer": provider.issuer, **places, **promise})
        account = provider.valid.get((self.headers["Authorization"] or "").removeprefix("Bearer "))
        if url.path == "/me":
            return self._answer(401 if account is None else 200, {"account": account})
        return self._answer(404, {})

    def do_POST(self) -> None:
        """Give a token, or take one no more."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        asked = {name: values[0] for name, values in parse_qs(body).items()}
        provider = self.provider
        with provider.lock:
            provider.asked.append(asked)
            provider.proofs.append(self._read_proof(asked))
            if provider.is_down:
                return self._answer(503, {"error": "temporarily_unavailable"})
            if self.path == "/revoke" or self.path == "/revocation":
                provider.revoked.append(asked["token"])
                return self._answer(200, {})
            return self._answer(*provider.answer(asked))

    def _read_proof(self, asked: dict[str, str]) -> str:
        said = self.headers["Authorization"]
        if said is None:
            return f"form {asked['client_id']} {asked.get('client_secret')}"
        name, _, secret = base64.b64decode(said.removeprefix("Basic ")).decode().partition(":")
        return f"basic {unquote_plus(name)} {unquote_plus(secret)}"

    def _answer(self, status: int, said: dict[str, Any], **headers: str) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Be quiet."""


@contextmanager
def provide() -> Iterator[LocalProvider]:
    """Serve a provider on this machine."""
    provider = LocalProvider()
    handler = type("Handler", (_Handler,), {"provider": provider})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        provider.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()


class Browser:
    """A person's browser: it keeps cookies, and says whence it comes; at the provider they have an account."""

    def __init__(self, client: httpx.AsyncClient, account: str = "ann", **headers: str) -> None:
        """Reach the server that a client reaches; `headers` are what a gateway adds."""
        self._here = httpx.AsyncClient(transport=client._transport, base_url=client.base_url, headers=headers)
        self._account = account

    def take_cookies(self, other: "Browser") -> None:
        """Be the same browser as another one, which reaches another server."""
        self._here.cookies.update(other._here.cookies)

    async def open(self, link: str) -> httpx.Response:
        """Open a link."""
        return await self._here.get(link, headers=_LINK)

    async def go_on(self, link: str) -> httpx.Response:
        """Press the button of the page that a link leads to."""
        return await self._here.post(link, headers=_FORM)

    async def consent(self, link: str) -> str:
        """Go from a link to the provider and decide there; return where that leads."""
        begun = await self.go_on(link)
        assert begun.status_code == 303, begun.text
        return await self.decide(begun.headers["Location"])

    async def decide(self, address: str) -> str:
        """Decide at the provider, and return where that leads."""
        async with httpx.AsyncClient(trust_env=False) as outside:
            said = await outside.get(address, headers={"X-Account": self._account})
        return said.headers["Location"]

    async def sign_in(self, link: str) -> httpx.Response:
        """Do all of it, and return the last page."""
        page = await self.open(link)
        assert page.status_code == 200, page.text
        return await self.open(await self.consent(link))
