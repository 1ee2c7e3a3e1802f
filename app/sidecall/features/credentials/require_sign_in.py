"""Find the tokens with which a tool acts for its caller's person, and suspend the call where one is missing."""

from collections.abc import Awaitable

from sidecall.features.approvals.steps import ask_person
from sidecall.kernel.core.errors import ToolExecutionError, refuse_unconfigured
from sidecall.kernel.core.injection import Injection
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.ports.approvals.fingerprint import Preview
from sidecall.kernel.ports.approvals.stores import Approvals
from sidecall.kernel.ports.user_tokens import TokenUnavailable, UserTokenRefused, UserTokens


def look_up_tokens(invocation: Invocation) -> Awaitable[None] | None:
    """Find the tokens that the tool takes, if any.

    Raises:
        ToolExecutionError: From `await`: one of them is unavailable.
        StoreUnavailable: From `await`: the store is unavailable.
    """
    tokens = invocation.services.user_tokens
    return None if tokens is None else _look_up(invocation, tokens)


async def _look_up(invocation: Invocation, tokens: UserTokens) -> None:
    caller, found = invocation.request.caller, {}
    try:
        for provider in _list_providers(invocation):
            token = await tokens.find(caller, provider)
            if token is not None:
                found[provider] = token
    except TokenUnavailable as error:
        raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error
    invocation.user_tokens = found


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
        if injection.required and injection.field not in invocation.user_tokens:
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
        request = invocation.request
        if not providers or (request.resumes is not None and not request.approved):
            return None
        return self._ask(invocation, providers)

    async def _ask(self, invocation: Invocation, providers: list[str]) -> None:
        tokens, caller = invocation.services.user_tokens, invocation.request.caller
        for provider in providers:
            if tokens is not None and provider in invocation.user_tokens:
                await tokens.drop(caller, provider, invocation.user_tokens[provider])
        await _ask(self._approvals, invocation, providers[0])


async def _ask(approvals: Approvals, invocation: Invocation, provider: str) -> None:
    tokens = invocation.services.user_tokens
    if tokens is None:
        lack = f"There is no token of {provider} where nobody can sign in."
        raise refuse_unconfigured(invocation.tool.name, invocation.call.id, lack)
    try:
        sign_in = tokens.invite(invocation.request.caller, provider)
    except TokenUnavailable as error:
        raise refuse_unconfigured(invocation.tool.name, invocation.call.id, error.message) from error
    waiting = await ask_person(approvals, invocation, Preview(sign_in=sign_in))
    # They may have signed in before this call was stored as waiting.
    await tokens.look_again(invocation.request.caller, provider)
    raise waiting.as_error() from None
