"""Name in `WWW-Authenticate` what a refused request lacks (RFC 6750, RFC 9728)."""

from starlette.types import Scope

from sidecall.auth.methods import Unauthenticated
from sidecall.auth.middleware import METADATA
from sidecall.auth.scopes import MissingScope
from sidecall.core.errors import RequestError


def challenge(scope: Scope, error: RequestError) -> dict[str, str]:
    """Write the header for a request that was refused with this error; nothing where it lacks no credential."""
    if isinstance(error, MissingScope):
        said = ['error="insufficient_scope"', f'scope="{" ".join(error.scopes)}"']
    elif isinstance(error, Unauthenticated):
        said = ['error="invalid_token"'] if error.is_tried else []
    else:
        return {}
    if METADATA in scope:
        said.append(f'resource_metadata="{scope[METADATA].find_document(scope)}"')
    return {"WWW-Authenticate": ", ".join(['Bearer realm="sidecall"', *said])}
