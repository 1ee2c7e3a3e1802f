"""Get tokens from a provider, refresh them, and revoke them.

Written by hand: a client has to send four forms (RFC 6749, 7009 and 7636), and the libraries that do so bring HTTP
clients of their own, or let environment variables reject providers.
"""

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode

import httpx

from sidecall.features.credentials.oauth.endpoints import UNREACHABLE, Endpoints, ProviderEndpoints
from sidecall.features.credentials.oauth.providers import ProviderSettings
from sidecall.kernel.ports.user_tokens import TokenUnavailable

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
