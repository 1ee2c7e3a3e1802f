"""One step of a call's way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sidecall.core.invocation import Invocation
from sidecall.core.tool import CompiledTool


def _always(_: CompiledTool) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Stage:
    """Hold what happens at one step, and which tools' calls take it; the others never come by.

    Stages `after_failure` are taken by failed calls too, once their message is made.
    """

    run: Callable[[Invocation], Awaitable[None]]
    wanted: Callable[[CompiledTool], bool] = _always
    after_failure: bool = False
