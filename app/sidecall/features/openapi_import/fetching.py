"""Fetch an OpenAPI document."""

from urllib.parse import urlsplit

import httpx

from sidecall.kernel.core.errors import ToolException
from sidecall.outgoing.addresses import USUAL_PORTS
from sidecall.outgoing.bodies import AnswerBounds
from sidecall.outgoing.clients import open_client
from sidecall.outgoing.patterns import parse_hosts
from sidecall.outgoing.rules import OutgoingRules
from sidecall.outgoing.settings import OutgoingSettings

# Errors of an unavailable document.
FAILURES = (httpx.HTTPError, httpx.InvalidURL, ToolException)
# Bounds of one document: bytes, and seconds.
_BOUNDS = AnswerBounds(64 * 1024 * 1024, 30.0)


async def fetch(url: str, private: bool, bounds: AnswerBounds | None) -> tuple[bytes, str]:
    """Fetch a document, and return it with its final address.

    Args:
        url: Its address.
        private: Whether its host need not be a public one.
        bounds: Its bounds; None for the defaults.
    """
    settings = OutgoingSettings()
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    named = f"{host}:{parts.port or USUAL_PORTS[parts.scheme.lower()]}"
    private_hosts = (named,) if private else settings.outgoing_private_hosts
    rules = OutgoingRules(allow=parse_hosts((named,)), private=parse_hosts(private_hosts), ports=None)
    async with open_client(rules, bounds or _BOUNDS, settings.outgoing_proxy, follow_redirects=True) as client:
        response = await client.get(url, headers={"Accept": "application/json, application/yaml, */*"})
    response.raise_for_status()
    return response.content, str(response.url)
