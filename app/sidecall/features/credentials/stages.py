"""The steps of calls that give tools the secrets of their callers, and the tokens of those who have signed in."""

from collections.abc import Mapping
from typing import Any

from sidecall.features.approvals.steps import takes_user_tokens
from sidecall.features.credentials.hide import hide_in_answer, hide_in_events, takes_secrets
from sidecall.features.credentials.look_up import look_up_secrets, takes_own_secrets
from sidecall.features.credentials.require_sign_in import (
    RenewSignIn,
    RequireSignIn,
    find_missing_provider,
    look_up_tokens,
)
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage
from sidecall.kernel.ports.approvals.stores import Approvals


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
