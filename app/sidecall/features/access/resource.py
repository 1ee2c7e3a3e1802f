"""What clients are told about accepted tokens (RFC 9728)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from starlette.types import Scope

from sidecall.kernel.core.scopes import SERVER_SCOPES

WELL_KNOWN = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """A server as issuers of tokens know it: the first audience that is an address, or its own address."""

    issuer: str
    audience: Sequence[str]

    def write(self, scope: Scope) -> dict[str, Any]:
        """Write the document that leads clients to the issuer."""
        return {
            "resource": self._address(scope),
            "authorization_servers": [self.issuer],
            "scopes_supported": list(SERVER_SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Sidecall",
        }

    def find_document(self, scope: Scope) -> str:
        """Return the address of that document: the well-known path precedes that of the resource."""
        parts = urlsplit(self._address(scope))
        return urlunsplit((parts.scheme, parts.netloc, WELL_KNOWN + parts.path.rstrip("/"), "", ""))

    def _address(self, scope: Scope) -> str:
        for name in self.audience:
            if name.startswith(("https://", "http://")):
                return name
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "localhost")
        return f"{scope['scheme']}://{host}"
