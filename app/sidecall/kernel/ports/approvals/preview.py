"""What a person is shown of a call that they decide about."""

from dataclasses import dataclass
from typing import Any

from sidecall.kernel.ports.user_tokens import SignIn


@dataclass(frozen=True, slots=True)
class Preview:
    """What a person should know who decides, as the tool's author says it.

    `shown` is what the call would do, in text or JSON, or `error` why there is nothing to show. A tool that asks while
    it runs says in `description` what is to be decided, in `payload` what else belongs to that, and in `state` what it
    wants back. With `sign_in` there is nothing to decide: a person has to sign in first.
    """

    shown: Any = None
    error: str | None = None
    description: str | None = None
    payload: Any = None
    sign_in: SignIn | None = None
    state: Any = None


NO_PREVIEW = Preview()
