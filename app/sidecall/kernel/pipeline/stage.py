"""One step of a call's way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool

# A step that never waits is a plain function; what another returns is awaited.
Step = Callable[[Invocation], Awaitable[None] | None]


def _always(_: CompiledTool) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Stage:
    """What happens at one step, and which tools' calls take it; the others never come by."""

    run: Step
    wanted: Callable[[CompiledTool], bool] = _always


@dataclass(frozen=True, slots=True)
class Stages:
    """What calls go through in order: all of them, and those of which a stage has failed.

    A stage fails by raising an error. The stages of `failure` find it in `Invocation.error`, and each decides by its
    class whether it has anything to do. When one of them raises an error, that one takes its place, and the next stage
    is taken all the same.
    """

    success: tuple[Stage, ...]
    failure: tuple[Stage, ...] = ()
