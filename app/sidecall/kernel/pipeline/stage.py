"""One stage of the pipeline."""

from collections.abc import Awaitable, Callable

from sidecall.dataclasses import dataclass
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool

# A step that never waits is a plain function; what another returns is awaited.
Step = Callable[[Invocation], Awaitable[None] | None]


def _always(_: CompiledTool) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline, and the tools whose calls need it."""

    run: Step
    wanted: Callable[[CompiledTool], bool] = _always


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages in order: for all calls, and for failed ones.

    A stage fails by raising an error. The stages of `failure` find it in `Invocation.error`, and each decides by its
    class whether to act. An error raised in one of them replaces it, and the next stage still runs.
    """

    success: tuple[Stage, ...]
    failure: tuple[Stage, ...] = ()
