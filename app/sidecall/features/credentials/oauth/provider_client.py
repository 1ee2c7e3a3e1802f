"""Get tokens from a provider, refresh them, and revoke them.

Written by hand: a client has to send four forms (RFC 6749, 7009 and 7636), and the libraries that do so bring HTTP
clients of their own, or let environment variables reject providers.
"""

import asyncio
import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode

import httpx

from sidecall.features.credentials.oauth.providers import ClientProof, ProviderSettings
from sidecall.kernel.ports.user_tokens import TokenUnavailable
from sidecall.outgoing.bodies import AnswerBounds
from sidecall.outgoing.clients import open_client
from sidecall.outgoing.patterns import OutgoingRefused
from sidecall.outgoing.rules import OutgoingRules, name_hosts

BOUNDS = AnswerBounds(max_bytes=256 * 1024, max_seconds=20.0)
PATIENCE = httpx.Timeout(10.0, connect=5.0)
UNREACHABLE = (httpx.HTTPError, httpx.InvalidURL, OutgoingRefused, OSError, UnicodeError)
# Seconds for which an issuer's metadata is cached.
_FRESH = 3600.0
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Endpoints:
    """A provider's endpoints and its client authentication; `says_issuer`: its answers name it (RFC 9207)."""

    authorization: str
    token: str
    revocation: str | None
    issuer: str | None
    says_issuer: bool
    proof: ClientProof


class ProviderEndpoints:
    """Find a provider's endpoints; an issuer's metadata is fetched when first needed."""

    def __init__(
        self,
        name: str,
        settings: ProviderSettings,
        proxy: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the provider's settings; `proxy` is the proxy for requests."""
        self._name = name
        self._settings = settings
        self._proxy = proxy
        self._clock = clock
        self._known: Endpoints | None = None
        self._got_at = 0.0
        self._lock = asyncio.Lock()
        # These are configured; what an issuer itself names has to be public, or at the same host.
        named = name_hosts(settings.issuer, settings.token_endpoint, settings.revocation_endpoint)
        self._rules = OutgoingRules(private=named, ports=None)

    def open_client(self) -> httpx.AsyncClient:
        """Return a client that reaches the provider, and nothing else inside."""
        return open_client(self._rules, BOUNDS, self._proxy, timeout=PATIENCE, headers={"Accept": "application/json"})

    async def get(self) -> Endpoints:
        """Return the endpoints.

        Raises:
            TokenUnavailable: Its issuer does not publish them.
        """
        settings = self._settings
        if settings.authorization_endpoint is not None and settings.token_endpoint is not None:
            return Endpoints(
                settings.authorization_endpoint,
                settings.token_endpoint,
                settings.revocation_endpoint,
                settings.issuer,
                says_issuer=False,
                proof=self._choose_proof(None),
            )
        async with self._lock:
            if self._known is None or self._clock() - self._got_at > _FRESH:
                self._known, self._got_at = await self._discover(), self._clock()
        return self._known

    def _choose_proof(self, supported: Any) -> ClientProof:
        if self._settings.token_endpoint_auth_method is not None:
            return self._settings.token_endpoint_auth_method
        if not self._settings.has_secret:
            return "none"
        # The default of RFC 8414.
        is_basic = not isinstance(supported, list) or "client_secret_basic" in supported
        return "client_secret_basic" if is_basic else "client_secret_post"

    async def _discover(self) -> Endpoints:
        issuer = self._settings.issuer
        assert issuer is not None
        try:
            said = await self._ask(issuer)
            return Endpoints(
                self._settings.authorization_endpoint or require_safe(said["authorization_endpoint"]),
                self._settings.token_endpoint or require_safe(said["token_endpoint"]),
                self._settings.revocation_endpoint or _read_optional(said, "revocation_endpoint"),
                issuer,
                said.get("authorization_response_iss_parameter_supported") is True,
                self._choose_proof(said.get("token_endpoint_auth_methods_supported")),
            )
        except (*UNREACHABLE, ValueError, LookupError, TypeError) as error:
            raise TokenUnavailable(f"{self._name}: its issuer does not say where it is asked: {error!r}.") from None

    async def _ask(self, issuer: str) -> Any:
        url = httpx.URL(issuer)
        path = url.path.rstrip("/")
        async with self.open_client() as client:
            # OpenID Connect puts the path in front, RFC 8414 behind.
            for place in (f"/.well-known/oauth-authorization-server{path}", f"{path}/.well-known/openid-configuration"):
                async with client.stream("GET", url.copy_with(path=place, query=None)) as response:
                    if response.status_code == httpx.codes.OK:
                        said = json.loads(await response.aread())
                        if said["issuer"] != issuer:
                            raise ValueError(f"it calls itself {said['issuer']!r}")
                        return said
        raise ValueError("it has no such document")


def _read_optional(said: Any, name: str) -> str | None:
    return None if said.get(name) is None else require_safe(said[name])


def require_safe(url: str) -> str:
    """Return an address whose traffic cannot be read or changed on the way.

    Raises:
        ValueError: It is not one.
    """
    found = httpx.URL(url)
    if found.scheme != "https" and found.host not in _LOCAL:
        raise ValueError(f"{url} is not https")
    return url


_MOST = 16 * 1024
_TOKEN = re.compile(r"[\x20-\x7e]+")
_CODE = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# Errors that a retry cannot change: the person has to sign in again.
_FINAL = frozenset(("invalid_grant", "bad_refresh_token", "bad_verification_code"))
_LONGEST = 10 * 365 * 86_400


class GrantRefused(TokenUnavailable):
    """What was shown to a provider for a token is not, or no more, good for one."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A provider's grant: an access token, its lifetime in seconds, and the refresh token."""

    access_token: str
    expires_in: float | None
    refresh_token: str | None


def make_verifier() -> str:
    """Make a random secret that proves who began the flow (RFC 7636)."""
    return secrets.token_urlsafe(48)


def make_challenge(verifier: str) -> str:
    """Return the PKCE challenge for a verifier, by the method S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


class OAuthProvider:
    """A client for one provider."""

    def __init__(self, name: str, settings: ProviderSettings, proxy: str | None = None) -> None:
        self.name = name
        self._settings = settings
        self.endpoints = ProviderEndpoints(name, settings, proxy)

    async def write_address(self, redirect_uri: str, state: str, verifier: str) -> str:
        """Return the URL where a person is asked for consent.

        Raises:
            TokenUnavailable: The provider's endpoint is unknown.
        """
        url = httpx.URL((await self.endpoints.get()).authorization)
        said = {
            **self._settings.params,
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": make_challenge(verifier),
            "code_challenge_method": "S256",
        }
        if self._settings.scopes:
            said["scope"] = " ".join(self._settings.scopes)
        return str(url.copy_merge_params(said))

    async def exchange(self, code: str, verifier: str, redirect_uri: str) -> Grant:
        """Exchange an authorization code for a token.

        Raises:
            TokenUnavailable: The provider gave none.
        """
        asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
        return self._read_grant(await self._post({**asked, "code_verifier": verifier}))

    async def refresh(self, refresh_token: str) -> Grant:
        """Get the next token.

        Raises:
            GrantRefused: The person has to sign in again.
            TokenUnavailable: The provider is unavailable.
        """
        return self._read_grant(await self._post({"grant_type": "refresh_token", "refresh_token": refresh_token}))

    async def revoke(self, token: str, hint: str) -> bool:
        """Ask the provider to revoke a token (RFC 7009); False if it does not confirm."""
        try:
            endpoints = await self.endpoints.get()
            if endpoints.revocation is None:
                return False
            status, _ = await self._send(endpoints.revocation, endpoints, {"token": token, "token_type_hint": hint})
        except TokenUnavailable:
            return False
        return status == httpx.codes.OK

    async def _post(self, asked: Mapping[str, str]) -> Mapping[str, Any]:
        endpoints = await self.endpoints.get()
        status, body = await self._send(endpoints.token, endpoints, asked)
        try:
            said = json.loads(body)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise TokenUnavailable(f"{self.name}: it answers {status}, without JSON.")
        # Some providers refuse with status 200.
        if status != httpx.codes.OK or "error" in said:
            code = str(said.get("error"))
            code = code if _CODE.fullmatch(code) else "no error code"
            kind = GrantRefused if code in _FINAL else TokenUnavailable
            raise kind(f"{self.name}: it answers {status}, {code}.")
        return said

    async def _send(self, url: str, endpoints: Endpoints, asked: Mapping[str, str]) -> tuple[int, bytes]:
        headers, form = {"Content-Type": "application/x-www-form-urlencoded"}, dict(asked)
        try:
            secret = self._settings.read_secret()
            if endpoints.proof == "client_secret_basic" and secret is not None:
                headers["Authorization"] = _write_basic(self._settings.client_id, secret)
            else:
                form["client_id"] = self._settings.client_id
                if endpoints.proof == "client_secret_post" and secret is not None:
                    form["client_secret"] = secret
            async with (
                self.endpoints.open_client() as client,
                client.stream("POST", url, content=urlencode(form), headers=headers) as response,
            ):
                return response.status_code, await response.aread()
        except UNREACHABLE as error:
            raise TokenUnavailable(f"{self.name}: it cannot be asked just now: {type(error).__name__}.") from None

    def _read_grant(self, said: Mapping[str, Any]) -> Grant:
        token, next_one, seconds = said.get("access_token"), said.get("refresh_token"), said.get("expires_in")
        if not _is_token(token) or str(said.get("token_type", "bearer")).lower() != "bearer":
            raise TokenUnavailable(f"{self.name}: what it answers has no bearer token.")
        return Grant(str(token), _read_seconds(seconds), str(next_one) if _is_token(next_one) else None)


def _is_token(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _MOST and _TOKEN.fullmatch(value) is not None


def _read_seconds(said: Any) -> float | None:
    """Read the lifetime of a token in seconds; some providers write the number as a text."""
    if isinstance(said, str) and said.isascii() and said.isdecimal() and len(said) < 16:
        said = int(said)
    if isinstance(said, bool) or not isinstance(said, int | float) or not said >= 0:
        return None
    return float(min(said, _LONGEST))


def _write_basic(client_id: str, secret: str) -> str:
    """Write the client's credentials for HTTP Basic, each part form-encoded (RFC 6749, 2.3.1)."""
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
