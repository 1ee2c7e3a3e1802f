"""One stage of the pipeline."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Self

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool

# A step that never waits is a plain function; what another returns is awaited.
Step = Callable[[Invocation], Awaitable[None] | None]


class Place(Enum):
    """Where a step of a call stands, in the one order of all calls."""

    DECODE = auto()  # the arguments become an object
    RECALL = auto()  # what was decided about the call is found
    RESOLVE = auto()  # secrets and tokens of the caller are found
    OPEN = auto()  # files are opened
    INJECT = auto()  # hidden parameters are filled
    REDACT_EVENTS = auto()  # secrets are hidden in what the tool says while it runs
    VALIDATE = auto()  # the arguments fit the schema from here on
    GUARD_INPUT = auto()
    AUTHORIZE = auto()  # a person signs in, or is asked
    STARTED = auto()  # callbacks hear that the tool begins
    EXECUTE = auto()  # the function runs
    GUARD_OUTPUT = auto()
    FORMAT = auto()  # the message is made
    COLLECT = auto()  # what the tool has left behind is listed
    REDACT = auto()  # secrets are hidden in the message
    ANNOTATE = auto()  # what the server has to say is added to the message
    BUDGET = auto()  # the message is cut to what a model may read
    ENDED = auto()  # callbacks hear of the end
    RELEASE = auto()  # what was opened is closed


class FailurePlace(Enum):
    """Where a step of a call that failed stands, in the one order of all calls."""

    CONTAIN = auto()  # what is no failure of ours is wrapped
    RELEASE = auto()  # what was opened is closed
    ASK = auto()  # a person is asked where the tool wanted that
    LOG = auto()
    RERAISE = auto()  # what the author lets through goes on
    FORMAT = auto()  # the message is made
    REDACT = auto()
    ANNOTATE = auto()
    BUDGET = auto()
    ENDED = auto()
    REPLAY = auto()  # an answer that was there already takes its place


def _always(_: CompiledTool) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the pipeline, and the tools whose calls need it."""

    place: Place | FailurePlace
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

    def add(self, stages: Iterable[Stage]) -> Self:
        """Return the same with further stages, each behind those of its place."""
        added = list(stages)
        return type(self)(
            _sort([*self.success, *(it for it in added if isinstance(it.place, Place))]),
            _sort([*self.failure, *(it for it in added if isinstance(it.place, FailurePlace))]),
        )


def _sort(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    return tuple(sorted(stages, key=lambda stage: stage.place.value))
