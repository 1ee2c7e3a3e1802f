"""The endpoints of a provider, as configured or from its metadata (RFC 8414)."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
