"""Find the secrets that are the caller's own."""

from collections.abc import Awaitable

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.secrets import OwnSecrets, SecretLost, SecretUnreadable


def takes_own_secrets(tool: CompiledTool) -> bool:
    """Return whether a tool takes secrets that may be its caller's."""
    return bool(_list_names(tool))


def look_up_secrets(invocation: Invocation) -> Awaitable[None] | None:
    """Look up the caller's own secrets, if callers may have some.

    Raises:
        SecretLost: From `await`: one of them cannot be decrypted.
        StoreUnavailable: From `await`: the store is unavailable.
    """
    places = invocation.services.own_secrets
    return None if places is None else _look_up(invocation, places)


async def _look_up(invocation: Invocation, places: OwnSecrets) -> None:
    names = _list_names(invocation.tool)
    try:
        invocation.own_secrets = await places.find(invocation.request.caller, names)
    except SecretUnreadable as error:
        raise SecretLost(invocation.tool.name, error.name) from error


def _list_names(tool: CompiledTool) -> list[str]:
    return [
        injection.field
        for injection in tool.injections
        if injection.source == "secret" and injection.of != "server" and injection.field
    ]
