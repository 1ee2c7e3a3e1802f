"""What a person is shown of a call that waits for a decision."""

from dataclasses import dataclass
from typing import Any

from sidecall.kernel.ports.user_tokens import SignIn


@dataclass(frozen=True, slots=True)
class AskedTool:
    """The definition of the tool that a person is asked about, and its hash."""

    hash: str
    definition: Any


@dataclass(frozen=True, slots=True)
class Preview:
    """What the deciding person should know, as the tool's author describes it.

    `shown` is what the call would do, in text or JSON; `error` is why there is no preview. A tool that asks while it
    runs sets `description` to the question, `payload` to further data, and `state` to what it wants back. With
    `sign_in` there is no decision: a person has to sign in first. `tool` is what the decision is bound to.
    """

    shown: Any = None
    error: str | None = None
    description: str | None = None
    payload: Any = None
    sign_in: SignIn | None = None
    state: Any = None
    tool: AskedTool | None = None


NO_PREVIEW = Preview()
