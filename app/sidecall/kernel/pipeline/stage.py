"""One stage of the pipeline."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from typing import Any, Self

from msgspec import Struct

from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.tool import CompiledTool

# A step that never waits is a plain function; what another returns is awaited.
Step = Callable[[Invocation], Awaitable[None] | None]
# Raises where the calling program has left out what the step needs. Nothing of the call has been done then.
Require = Callable[[Invocation], None]
# Finds for a dry run what the step would do, as members of its result.
Foresee = Callable[[Invocation], Awaitable[Mapping[str, Any]]]
# Raises where a call may not be let in.
GateCheck = Callable[[CallRequest, CompiledTool], Awaitable[None] | None]


class Place(Enum):
    """Where a step of a call stands, in the one order of all calls."""

    DECODE = auto()  # the arguments become an object
    RECALL = auto()  # what was decided about the call is found
    RESOLVE = auto()  # secrets of the caller are found
    FIND_TOKENS = auto()  # tokens of those who have signed in are found
    OPEN = auto()  # files are opened
    INJECT = auto()  # hidden parameters are filled
    REDACT_EVENTS = auto()  # secrets are hidden in what the tool says while it runs
    VALIDATE = auto()  # the arguments fit the schema from here on
    GUARD_INPUT = auto()
    SIGN_IN = auto()  # a person signs in
    AUTHORIZE = auto()  # a person is asked
    STARTED = auto()  # callbacks hear that the tool begins
    EXECUTE = auto()  # the function runs
    GUARD_OUTPUT = auto()
    FORMAT = auto()  # the message is made
    REUSE = auto()  # both at once, for tools whose answers are given again
    COLLECT = auto()  # what the tool has left behind is listed
    REDACT = auto()  # secrets are hidden in the message
    ANNOTATE = auto()  # what the server has to say is added to the message
    TRUNCATE = auto()  # the message is cut to what a model may read
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
    TRUNCATE = auto()
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
    require: Require | None = None
    foresee: Foresee | None = None


class Check(Struct, frozen=True):
    """What a call has to pass before it is let in, and the tools whose calls are looked at.

    It is asked where the caller sees the tool and has calls left, before the call waits for its slot; also for calls
    that go on alone, when they are accepted. A `RequestError` refuses the call.
    """

    run: GateCheck
    wanted: Callable[[CompiledTool], bool] = _always


class Stages(Struct, frozen=True):
    """The stages in order: for all calls, and for failed ones.

    A stage fails by raising an error. The stages of `failure` find it in `Invocation.error`, and each decides by its
    class whether to act. An error raised in one of them replaces it, and the next stage still runs.
    """

    success: tuple[Stage, ...]
    failure: tuple[Stage, ...] = ()
    checks: tuple[Check, ...] = ()

    def add(self, stages: Iterable[Stage], checks: Iterable[Check] = ()) -> Self:
        """Return the same with further stages, each behind those of its place, and further checks of the gate."""
        added = list(stages)
        reusing = [it for it in added if it.place is Place.REUSE]
        return type(self)(
            _sort([*_leave_to(reusing, self.success), *(it for it in added if isinstance(it.place, Place))]),
            _sort([*self.failure, *(it for it in added if isinstance(it.place, FailurePlace))]),
            (*self.checks, *checks),
        )


def _leave_to(reusing: list[Stage], stages: tuple[Stage, ...]) -> Iterable[Stage]:
    """Keep tools that are run where answers are given again from being run at their usual places as well."""

    def runs(stage: Stage, tool: CompiledTool) -> bool:
        return stage.wanted(tool) and not any(it.wanted(tool) for it in reusing)

    if not reusing:
        return stages
    places = (Place.EXECUTE, Place.FORMAT)
    return [replace(it, wanted=partial(runs, it)) if it.place in places else it for it in stages]


def _sort(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    return tuple(sorted(stages, key=lambda stage: stage.place.value))
