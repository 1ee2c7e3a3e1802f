"""`WWW-Authenticate`: what a refused request lacks (RFC 6750, RFC 9728)."""

from starlette.types import Scope

from sidecall.features.access.methods import Unauthenticated
from sidecall.features.access.middleware import METADATA
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.scopes import MissingScope


def challenge(scope: Scope, error: RequestError) -> dict[str, str]:
    """Write the header for a request that was refused with this error; none where no credential is missing."""
    if isinstance(error, MissingScope):
        said = ['error="insufficient_scope"', f'scope="{" ".join(error.scopes)}"']
    elif isinstance(error, Unauthenticated):
        said = ['error="invalid_token"'] if error.is_tried else []
    else:
        return {}
    if METADATA in scope:
        said.append(f'resource_metadata="{scope[METADATA].find_document(scope)}"')
    return {"WWW-Authenticate": ", ".join(['Bearer realm="sidecall"', *said])}
