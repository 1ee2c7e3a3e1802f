"""The public keys of an issuer of tokens, fetched when needed and cached."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from sidecall.features.access.auth_methods import IssuerUnreachable
from sidecall.outgoing.bodies import AnswerBounds
from sidecall.outgoing.clients import open_client
from sidecall.outgoing.patterns import OutgoingRefused
from sidecall.outgoing.rules import OutgoingRules, name_hosts

logger = logging.getLogger("sidecall")

# Seconds for which keys are used before they are fetched again.
_FRESH = 600.0
# Seconds for which old keys are accepted while the issuer cannot be reached.
_USABLE = 86_400.0
# Seconds between two fetches, so that tokens with invented key ids cannot cause more.
_PAUSE = 30.0
_BOUNDS = AnswerBounds(max_bytes=1024 * 1024, max_seconds=20.0)
_PATIENCE = httpx.Timeout(5.0)
_DISCOVERY = "/.well-known/openid-configuration"
_FAILURES = (httpx.HTTPError, httpx.InvalidURL, OutgoingRefused, JoseError, ValueError, LookupError, TypeError)


class IssuerKeys:
    """The public keys of one issuer."""

    def __init__(
        self,
        issuer: str,
        url: str | None,
        clock: Callable[[], float] = time.monotonic,
        proxy: str | None = None,
    ) -> None:
        """Take the addresses.

        Args:
            issuer: The issuer.
            url: The address of its keys; None looks it up at the issuer.
            clock: A monotonic clock in seconds.
            proxy: The proxy for requests.
        """
        self._issuer = issuer
        self._url = url
        self._clock = clock
        self._proxy = proxy
        # These are configured; what an issuer itself names has to be public, or at the same host.
        self._rules = OutgoingRules(private=name_hosts(issuer, url), ports=None)
        self._keys: KeySet | None = None
        self._got_at = self._asked_at = float("-inf")
        self._lock = asyncio.Lock()

    async def get(self) -> KeySet:
        """Return the keys, fetched again where they are old.

        Raises:
            IssuerUnreachable: There are no keys that are young enough.
        """
        if self._keys is None or self._clock() - self._got_at > _FRESH:
            await self._refresh()
        if self._keys is None or self._clock() - self._got_at > _USABLE:
            raise IssuerUnreachable
        return self._keys

    async def get_newer(self, than: KeySet) -> KeySet | None:
        """Fetch the keys again after one was not found in them; None where they have not changed."""
        if self._keys is than:
            await self._refresh()
        return None if self._keys is than else self._keys

    async def _refresh(self) -> None:
        async with self._lock:
            if self._clock() - self._asked_at < _PAUSE:
                return
            self._asked_at = self._clock()
            try:
                self._keys = await self._fetch()
            except _FAILURES as error:
                logger.warning("the keys of %s cannot be fetched: %r", self._issuer, error)
            else:
                self._got_at = self._clock()

    async def _fetch(self) -> KeySet:
        async with open_client(self._rules, _BOUNDS, self._proxy, timeout=_PATIENCE) as client:
            if self._url is None:
                said = await _read(client, self._issuer.rstrip("/") + _DISCOVERY)
                if said["issuer"] != self._issuer:
                    raise ValueError(f"it calls itself {said['issuer']!r}")
                return KeySet.import_key_set(await _read(client, _require_safe(said["jwks_uri"])))
            return KeySet.import_key_set(await _read(client, self._url))


def _require_safe(url: str) -> str:
    """Require an address whose answers cannot be changed on the way."""
    found = httpx.URL(url)
    if found.scheme != "https" and found.host not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError(f"its keys are at {url}, which is not https")
    return url


async def _read(client: httpx.AsyncClient, url: str) -> Any:
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as response:
        if response.status_code != httpx.codes.OK:  # A redirect may lead to a host that the operator has not named.
            raise ValueError(f"{url} answers {response.status_code}")
        return json.loads(await response.aread())
