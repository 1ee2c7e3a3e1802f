"""One call on its way through the pipeline."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec import Struct, field, structs
from uuid_utils import uuid7

from sidecall.kernel.concurrency.backpressure import Pause
from sidecall.kernel.core.context import (
    CallOrigin,
    EventListener,
    RunContextWrapper,
    Signals,
    ToolContext,
)
from sidecall.kernel.core.cost import CallCost, to_number
from sidecall.kernel.core.injection import Supply
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.result_memory import ResultReservation
from sidecall.kernel.core.secret_mask import SecretMask
from sidecall.kernel.core.sender import UNKNOWN, Sender
from sidecall.kernel.core.services import NO_SERVICES, CallServices, Release
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.core.typed_context import ObjectContext
from sidecall.kernel.ports.approvals.review import NOT_REVIEWED, Review
from sidecall.kernel.ports.contents import CallerContents
from sidecall.kernel.ports.passages import OwnPassages
from sidecall.kernel.ports.secrets import SecretOwner
from sidecall.kernel.ports.store import pick_tenant


class _Nothing(Mapping[str, Any]):
    """An immutable empty mapping; unlike Python's own it can be a default of dataclasses."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    __hash__ = object.__hash__


NOTHING: Mapping[str, Any] = _Nothing()


class Job(Protocol):
    """A durable call, whose end is kept for a later question."""

    def note_begin(self, invocation: "Invocation") -> None:
        """Note that its tool begins, so that it may have effects."""


class CallRequest(Struct):
    """A ToolCall and what its sender, never the model, supplies with it.

    `listener` receives progress. `review` is what a person or a rule has decided about the call. `id` is that of its
    record, if it comes from one: it was counted when it came. `job` is set while it runs as a durable call. `origin` is
    what it belongs to, once that was asked.
    """

    call: ToolCall
    sender: Sender = UNKNOWN
    state: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    listener: EventListener | None = None
    review: Review = NOT_REVIEWED
    id: str | None = None
    job: Job | None = None
    origin: CallOrigin | None = None

    def copy_with(self, **changed: Any) -> "CallRequest":
        """Return a copy with other values of these fields."""
        return structs.replace(self, **changed)

    def copy_reviewed(self, **changed: Any) -> "CallRequest":
        """Return a copy with other values of these fields of its review."""
        return structs.replace(self, review=structs.replace(self.review, **changed))

    def copy_sent(self, **changed: Any) -> "CallRequest":
        """Return a copy with other values of these fields of its sender."""
        return structs.replace(self, sender=structs.replace(self.sender, **changed))


class GivenUp(Exception):
    """The call goes on, but its caller has stopped waiting."""


class Remarks(Struct):
    """What an answer says of its call beside the result.

    Args:
        repaired: What was mended in the arguments.
        ignored: Names of arguments that were dropped, since the tool has none such.
        notes: What was lost on the way to JSON.
        verdicts: What guardrails have found.
        written: The arguments in JSON once they were mended; None where they were not.
    """

    repaired: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    notes: Sequence[str] = ()
    verdicts: Sequence[dict[str, Any]] = ()
    written: str | None = None


class CallSecrets(Struct, frozen=True):
    """The secrets that were found for one call; `mask` hides those that its tool is given, if it is given any.

    `own` are the caller's, `tokens` those of people, by provider.
    """

    own: Mapping[str, str] = NOTHING
    tokens: Mapping[str, str] = NOTHING
    mask: SecretMask | None = None


NO_SECRETS = CallSecrets()


class Invocation(Struct):
    """One call on its way from stage to stage.

    Each field below the blank line is written by the stage named in its comment, and read by later stages.
    """

    id: str
    request: CallRequest
    tool: CompiledTool
    started: float
    deadline: float | None
    services: CallServices

    # To make an empty one of each takes longer than most stages, so those that few calls fill begin as a common one.
    remarks: Remarks = field(default_factory=Remarks)  # decode, inject, validate, guardrails, format_output
    waited: float = 0.0  # the gate, and executors that add to it: seconds until its turn came
    args: Mapping[str, Any] = NOTHING  # decode
    secrets: CallSecrets = NO_SECRETS  # look_up_secrets, look_up_tokens; inject, which fills the mask
    workspace: Any = None  # open_workspace, for a tool that takes it
    values: Mapping[str, Any] = NOTHING  # inject: the hidden ones; validate: all
    is_told: bool = False  # run_on_start
    attempts: int = 0  # execute: how often the tool was run
    is_given_up: bool = False  # execute
    output: Any = None  # execute, guard_output
    message: ToolMessage | None = None  # format_output, format_failure; budget cuts its content
    error: BaseException | None = None  # the pipeline: what the last stage that failed has raised
    share: ResultReservation | None = None  # the stage that first finds the result large
    cost: CallCost | None = None  # execute, and the tool by its context; take_budget
    made_context: ToolContext | None = None  # the first access to `tool_context`

    @property
    def call(self) -> ToolCall:
        """The call as requested."""
        return self.request.call

    @property
    def tool_context(self) -> ToolContext:
        """The ToolContext of this call, for the tool and the functions around it."""
        if self.made_context is None:
            resources = self.services.resources
            args, sender, review = self.call.args, self.request.sender, self.request.review
            made = self.made_context = object.__new__(ToolContext)
            # Past the form in which tests make one, which takes as long again.
            RunContextWrapper.__init__(
                made,
                tool_name=self.tool.name,
                tool_call_id=self.call.id,
                invocation_id=self.id,
                caller=sender.caller,
                state=self.request.state,
                context=self.request.context,
                headers=sender.headers,
                store=pick_tenant(resources.store, sender.caller.tenant),
                contents=None if resources.contents is None else CallerContents(resources.contents, sender.caller),
                sandbox=resources.sandbox,
                passages=None if resources.passages is None else OwnPassages(resources.passages, sender.caller.tenant),
                trace=partial(name_trace, resources.trace, sender.headers),
                deadline=self.deadline,
                approved=review.approved,
                rejection=review.rejection,
                resumed=review.state,
                reply=review.reply,
                args=args if isinstance(args, str) else dict(args),  # In spite of any change to them.
                signals=Signals(False, self.request.listener, sender.presence, open_cost(self)),
            )
            if isinstance(self.request.context, ObjectContext):
                self.made_context = self.request.context.put_into(made)
        return self.made_context

    def fail(self, error: BaseException) -> None:
        """Record the error of a failed stage, and drop the message made before, if any."""
        self.error = error
        self.message = None
        if self.share is not None:
            self.share.settle(0)

    def pop_error(self) -> BaseException:
        """Return the error and clear it, since its traceback holds frames that refer to this invocation."""
        error, self.error = self.error, None
        assert error is not None
        return error

    def give_up(self) -> None:
        """Set the flag by which the tool can see that its answer is no longer awaited."""
        self.is_given_up = True
        if self.made_context is not None:
            self.made_context.signals.cancelled = True

    def abandon(self) -> Release:
        """Note that part of this call still runs; it keeps its tool's slot until the returned function is called."""
        return self.services.abandon(self.tool)

    def open_share(self) -> ResultReservation | None:
        """Return the reservation that counts the result's bytes, or None."""
        if self.share is None and self.services.results is not None:
            holder = self.request.sender.holder
            self.share = self.services.results.open(self.id if holder is None else holder, self.tool.name)
        return self.share

    def close_share(self) -> None:
        """Note that the result is complete; without a holder, its bytes are released."""
        if self.share is not None:
            self.share.finish(is_kept=self.message is not None)
            if self.request.sender.holder is None and self.services.results is not None:
                self.services.results.release(self.share.holder)

    def look_around(self) -> None:
        """Check that the result is still awaited.

        Raises:
            GivenUp: It is not, so no more of it should be made.
        """
        if self.is_given_up:
            raise GivenUp

    def say_part(self, part: Any) -> Pause | None:
        """Pass a part of the result to the listener; return an awaitable to wait for before the next part, or None.

        Raises:
            GivenUp: The result is no longer awaited, so no more of it should be made.
        """
        self.look_around()
        # Not where guardrails have to see the whole first.
        if self.request.listener is None or self.tool.options.tool_output_guardrails:
            return None
        return self.request.listener("partial", self.call.id, {"content": part})

    @property
    def visible_values(self) -> dict[str, Any]:
        """The validated arguments, without injected ones."""
        return {name: value for name, value in self.values.items() if name not in self.tool.hidden_names}

    def _find_secret(self, name: str, of: SecretOwner) -> str | None:
        """Find a secret and mask it from now on in everything that leaves the server; None if there is none."""
        found = None if of == "server" else self.secrets.own.get(name)
        return self._mask(self.services.resources.secrets(name) if found is None and of != "caller" else found)

    def _find_token(self, provider: str) -> str | None:
        """Find a person's token, masked like a secret; None if there is none."""
        return self._mask(self.secrets.tokens.get(provider))

    def _mask(self, secret: str | None) -> str | None:
        if secret is not None:
            mask = self.secrets.mask
            if mask is None:
                mask = SecretMask()
                self.secrets = structs.replace(self.secrets, mask=mask)
            mask.add(secret)
        return secret

    def supply(self) -> Supply:
        """Collect the sources for injected parameters."""
        return Supply(
            self.call.id,
            self.request.state,
            self.request.context,
            self.tool_context,
            self._find_secret,
            self.tool.options,
            self.tool.is_async,
            self._find_token,
            self.workspace,
        )


def open_cost(invocation: Invocation) -> CallCost:
    """Return what a call costs, so that something can be added."""
    if invocation.cost is None:
        invocation.cost = CallCost()
    return invocation.cost


def find_cost(invocation: Invocation) -> float | None:
    """Return what a call has cost; None where its tool names no cost and nothing was added."""
    cost = invocation.cost
    if cost is not None and cost.billionths:
        return to_number(cost.billionths)
    return None if invocation.tool.options.cost is None else 0.0


def new_invocation_id() -> str:
    """Return a new id: a UUIDv7, so that ids sort by time."""
    return str(uuid7())


def new_invocation(
    request: CallRequest, tool: CompiledTool, default_timeout: float | None, services: CallServices = NO_SERVICES
) -> Invocation:
    """Make an invocation with an id and a deadline on the monotonic clock."""
    now = time.monotonic()
    seconds = default_timeout if tool.options.timeout is None else tool.options.timeout
    deadline = None if seconds is None else now + seconds
    due = request.sender.deadline
    if due is not None and (deadline is None or due.moment < deadline):
        deadline = due.moment
    return Invocation(request.id or str(uuid7()), request, tool, now, deadline, services, Remarks([], []))


def find_progress(invocation: Invocation) -> dict[str, Any] | None:
    """Return what the tool has reported last of its progress; None if nothing."""
    said = None if invocation.made_context is None else invocation.made_context.signals.progress
    return None if said is None else dict(said)


_TRACED = ("traceparent", "tracestate")


def name_trace(name_own: Callable[[], Mapping[str, str]], headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that name the call's own span, or else those the call came with."""
    own = dict(name_own())
    return own or {name: value for name in _TRACED if (value := headers.get(name)) is not None}


def find_given(invocation: Invocation) -> ToolContext | CallRequest:
    """Return what came with a call; the ToolContext if there is one, since functions around the tool may change it."""
    return invocation.request if invocation.made_context is None else invocation.made_context
