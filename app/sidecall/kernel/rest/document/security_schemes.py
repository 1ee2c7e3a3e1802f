"""Describe in the OpenAPI document how callers authenticate, and which scope each request needs."""

from collections.abc import Callable, Collection
from typing import Any

# Finds the scope that a request takes, by its method and path.
FindScope = Callable[[str, str], str | None]

_SCHEMES: dict[str, dict[str, Any]] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key that `sidecall keys new` has made, or a token, where the server takes them.",
    },
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A key, in a header of its own."},
}


# What each way of proving takes; a gateway proves it by headers that callers do not send.
_SCHEMES_OF = {"api_key": ("bearer", "apiKey"), "jwt": ("bearer",)}


def choose_schemes(proofs: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the schemes of the accepted credentials."""
    wanted = {name for proof in proofs for name in _SCHEMES_OF.get(proof, ())}
    return {name: scheme for name, scheme in _SCHEMES.items() if name in wanted}


def add_security(document: dict[str, Any], is_open: Callable[[str], bool], find_scope: FindScope | None) -> None:
    """Add the credentials and the scope of each operation.

    Args:
        document: The OpenAPI document, which is changed.
        is_open: Returns whether a path is served to everybody.
        find_scope: Finds what each takes; None where callers need not prove who they are, and there is nothing to name.
    """
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if is_open(path):
                operation["responses"].pop("401", None)
            if find_scope is not None:
                operation["security"] = [] if is_open(path) else _list_credentials(find_scope, method, path)
    if find_scope is not None:
        document["components"]["securitySchemes"] = _SCHEMES


def _list_credentials(find_scope: FindScope, method: str, path: str) -> list[dict[str, list[str]]]:
    # As one call or one approval is asked for.
    scope = find_scope(method.upper(), path)
    return [{name: [] if scope is None else [scope]} for name in _SCHEMES]
