"""The steps of calls that give tools the secrets of their callers, and the tokens of those who have signed in."""

from collections.abc import Awaitable, Mapping
from typing import Any

from msgspec.structs import replace

from sidecall.features.approvals.steps import ask_person, takes_user_tokens
from sidecall.features.approvals.stores import Approvals
from sidecall.kernel.concurrency.backpressure import Pause
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import RequestError, ToolExecutionError, refuse_unconfigured
from sidecall.kernel.core.injection import Injection
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ABSENT, find_value, keep_value
from sidecall.kernel.core.secret_mask import SecretMask
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.to_json import to_plain
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage
from sidecall.kernel.ports.approvals.approval import Preview
from sidecall.kernel.ports.secrets import OwnSecrets, SecretLost, SecretUnreadable
from sidecall.kernel.ports.user_tokens import TokenUnavailable, UserTokenRefused, UserTokens


def takes_secrets(tool: CompiledTool) -> bool:
    """Return whether a tool is given secrets."""
    return any(injection.source in ("secret", "user_token") for injection in tool.injections)


def hide_in_events(invocation: Invocation) -> None:
    """Mask the call's secrets in the events that listeners get."""
    mask, listener = invocation.secrets.mask, invocation.request.listener
    if mask is None or listener is None:
        return
    heard = MaskedListener(mask, listener)
    invocation.request = invocation.request.copy_with(listener=heard)
    invocation.tool_context.signals.listener = heard


def hide_in_answer(invocation: Invocation) -> None:
    """Mask the call's secrets in its answer, or in its error."""
    mask, message = invocation.secrets.mask, invocation.message
    if mask is None:
        return
    if message is not None:
        value = find_value(message)
        if value is not ABSENT:
            keep_value(message, mask.hide(to_plain(value)))
        message.content = mask.hide(message.content)
        message.artifact = mask.hide(message.artifact)
        message.additional_kwargs = mask.hide(message.additional_kwargs)
        message.response_metadata = mask.hide(message.response_metadata)
    elif isinstance(invocation.error, RequestError):
        error = invocation.error
        error.args = tuple(mask.hide(arg) for arg in error.args)
        error.members = mask.hide(error.members)


class MaskedListener:
    """Pass on a call's events without its secrets.

    Of a text in parts, the end of each part is held back while it may be the beginning of a secret.
    """

    def __init__(self, mask: SecretMask, listener: EventListener) -> None:
        self._mask = mask
        self._listener = listener
        self._held = ""

    def __call__(self, kind: str, call_id: str, said: Mapping[str, Any]) -> Pause | None:
        """Pass on one event."""
        if kind == "partial" and isinstance(said.get("content"), str):
            text = self._mask.hide_in_text(self._held + said["content"])
            length = self._mask.measure_begun(text)
            text, self._held = text[: len(text) - length], text[len(text) - length :]
            return self._listener(kind, call_id, {**said, "content": text}) if text else None
        return self._listener(kind, call_id, self._mask.hide(said))


def look_up_tokens(invocation: Invocation) -> Awaitable[None] | None:
    """Find the tokens that the tool takes, if any.

    Raises:
        ToolExecutionError: From `await`: one of them is unavailable.
        StoreUnavailable: From `await`: the store is unavailable.
    """
    tokens = invocation.services.resources.user_tokens
    return None if tokens is None else _require_token(invocation, tokens)


async def _require_token(invocation: Invocation, tokens: UserTokens) -> None:
    caller, found = invocation.request.sender.caller, {}
    try:
        for provider in _list_providers(invocation):
            token = await tokens.find(caller, provider)
            if token is not None:
                found[provider] = token
    except TokenUnavailable as error:
        raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error
    invocation.secrets = replace(invocation.secrets, tokens=found)


def _list_injections(invocation: Invocation) -> list[Injection]:
    return [injection for injection in invocation.tool.injections if injection.source == "user_token"]


def _list_providers(invocation: Invocation) -> list[str]:
    return list(dict.fromkeys(injection.field or "" for injection in _list_injections(invocation)))


class RequireSignIn:
    """Suspend a call for a person who has not signed in."""

    # After all checks of arguments: a person should not sign in for a call that cannot run.

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    def __call__(self, invocation: Invocation) -> Awaitable[None] | None:
        """Pass a call that has all required tokens; otherwise ask for the first missing one.

        Raises:
            ApprovalRequired: From `await`: it waits.
            AnsweredBefore: From `await`: the same call was answered while this one was on its way.
            TooManyApprovals: From `await`: too many calls wait already.
            ToolNotConfigured: Sign-in is not configured.
        """
        provider = find_missing_provider(invocation)
        return None if provider is None else _ask(self._approvals, invocation, provider)


def find_missing_provider(invocation: Invocation) -> str | None:
    """Return the first provider whose required token is missing; None where there is none."""
    for injection in _list_injections(invocation):
        if injection.required and injection.field not in invocation.secrets.tokens:
            return injection.field or ""
    return None


class RenewSignIn:
    """Suspend a call until a person signs in again, when its tool reports that the token was refused.

    A tool that refuses a token it got just now fails, so that a person is not asked forever.
    """

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    def __call__(self, invocation: Invocation) -> Awaitable[None] | None:
        """Replace the failure that reports a refused token by the wait; return None at once for other failures."""
        error = invocation.error
        refused = error.__cause__ if isinstance(error, ToolExecutionError) else None
        if not isinstance(refused, UserTokenRefused):
            return None
        providers = [it for it in _list_providers(invocation) if refused.provider in (None, it)]
        review = invocation.request.review
        if not providers or (review.approval_id is not None and not review.approved):
            return None
        return self._ask(invocation, providers)

    async def _ask(self, invocation: Invocation, providers: list[str]) -> None:
        tokens, caller = invocation.services.resources.user_tokens, invocation.request.sender.caller
        for provider in providers:
            if tokens is not None and provider in invocation.secrets.tokens:
                await tokens.drop(caller, provider, invocation.secrets.tokens[provider])
        await _ask(self._approvals, invocation, providers[0])


async def _ask(approvals: Approvals, invocation: Invocation, provider: str) -> None:
    tokens = invocation.services.resources.user_tokens
    if tokens is None:
        lack = f"This server has no sign-in, so it has no token of {provider}."
        raise refuse_unconfigured(invocation.tool.name, invocation.call.id, lack)
    try:
        sign_in = tokens.invite(invocation.request.sender.caller, provider)
    except TokenUnavailable as error:
        raise refuse_unconfigured(invocation.tool.name, invocation.call.id, error.message) from error
    waiting = await ask_person(approvals, invocation, Preview(sign_in=sign_in))
    # They may have signed in before this call was stored as waiting.
    await tokens.look_again(invocation.request.sender.caller, provider)
    raise waiting.as_error() from None


def takes_own_secrets(tool: CompiledTool) -> bool:
    """Return whether a tool takes secrets that may be its caller's."""
    return bool(_list_names(tool))


def look_up_secrets(invocation: Invocation) -> Awaitable[None] | None:
    """Look up the caller's own secrets, if callers may have some.

    Raises:
        SecretLost: From `await`: one of them cannot be decrypted.
        StoreUnavailable: From `await`: the store is unavailable.
    """
    places = invocation.services.resources.own_secrets
    return None if places is None else _find_secrets(invocation, places)


async def _find_secrets(invocation: Invocation, places: OwnSecrets) -> None:
    names = _list_names(invocation.tool)
    try:
        own = await places.find(invocation.request.sender.caller, names)
    except SecretUnreadable as error:
        raise SecretLost(invocation.tool.name, error.name) from error
    invocation.secrets = replace(invocation.secrets, own=own)


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
