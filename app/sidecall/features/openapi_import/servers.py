"""Find out where the service of a document is."""

from typing import Any
from urllib.parse import urljoin, urlsplit

from sidecall.features.openapi_import.definitions import Unusable
from sidecall.features.openapi_import.operations import ApiOperation
from sidecall.features.openapi_import.requests import Destination
from sidecall.outgoing.rules import USUAL_PORTS


def find_server(operation: ApiOperation, document: dict[str, Any], base_url: str | None, origin: str | None) -> str:
    """Return the base URL of an operation.

    Raises:
        Unusable: The document names none.
    """
    if base_url is not None:
        return _require_address(base_url)
    written = operation.said.get("servers") or operation.beside.get("servers") or document.get("servers")
    return _require_address(urljoin(origin or "", _fill_server(written) if written else "/"))


def _require_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in USUAL_PORTS or not parts.hostname:
        raise Unusable("the document does not say where the service is; give base_url='https://…'")
    return url


def _fill_server(servers: Any) -> str:
    first = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], dict) else {}
    url = str(first.get("url", ""))
    variables = first.get("variables")
    for name, variable in variables.items() if isinstance(variables, dict) else ():
        url = url.replace(f"{{{name}}}", str(variable.get("default", "")) if isinstance(variable, dict) else "")
    return url


def find_destination(base: str, *, is_private: bool) -> Destination:
    """Return what the requests to an address may reach: its host alone."""
    parts = urlsplit(base)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    named = f"{host}:{parts.port or USUAL_PORTS[parts.scheme]}"
    return Destination(named, (named,) if is_private else ())
