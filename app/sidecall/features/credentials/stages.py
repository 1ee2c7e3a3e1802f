"""The steps of calls that give tools the secrets of their callers, and the tokens of those who have signed in."""

from collections.abc import Awaitable, Mapping
from typing import Any

from sidecall.features.approvals.steps import takes_user_tokens
from sidecall.features.credentials.hide import hide_in_answer, hide_in_events, takes_secrets
from sidecall.features.credentials.require_sign_in import (
    RenewSignIn,
    RequireSignIn,
    find_missing_provider,
    look_up_tokens,
)
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage
from sidecall.kernel.ports.approvals.stores import Approvals
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


async def foresee_sign_in(invocation: Invocation) -> Mapping[str, Any]:
    """Find for a dry run at which provider a person would have to sign in first."""
    return {"sign_in": find_missing_provider(invocation)}


_OF_ALL = (
    Stage(Place.RESOLVE, look_up_secrets, takes_own_secrets),
    Stage(Place.FIND_TOKENS, look_up_tokens, takes_user_tokens),
    Stage(Place.REDACT_EVENTS, hide_in_events, takes_secrets),
    Stage(Place.REDACT, hide_in_answer, takes_secrets),
    Stage(FailurePlace.REDACT, hide_in_answer, takes_secrets),
)


def make_credential_stages(approvals: Approvals) -> list[Stage]:
    """Make the steps; a call that waits for a sign-in is kept with the approvals."""
    return [
        *_OF_ALL,
        Stage(Place.SIGN_IN, RequireSignIn(approvals), takes_user_tokens, foresee=foresee_sign_in),
        Stage(FailurePlace.ASK, RenewSignIn(approvals), takes_user_tokens),
    ]
