"""What is noted of a call when it ends: references to what there is, with as little work on it as can be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sidecall.core.context import Caller, cut_id
from sidecall.core.invocation import Invocation
from sidecall.core.observer import Outcome
from sidecall.core.tool import CompiledTool
from sidecall.history.showing import Showing, ShownArgs

# What a noted call takes beside its texts, about.
_BESIDE = 512
# Arguments that are looked at when a call ends; where there are more, or lists, a short copy is made at once.
_FEW = 16
_CONTAINERS = frozenset((dict, list))
# A tuple is made past its constructor, which takes as long as all else that is done here.
_new = tuple.__new__


class Kept(NamedTuple):
    """What is kept of what a call was asked and answered.

    `args` are None where they are not kept. `has_more` says that something came beside them. `secrets` are those that
    its tool was given.
    """

    args: Mapping[str, Any] | ShownArgs | None
    has_more: bool
    content: Any
    error: Any
    secrets: tuple[str, ...]


class Noted(NamedTuple):
    """A call that has ended, as it waits to be packed; `moment` is on the monotonic clock."""

    id: str
    call_id: str
    tool: CompiledTool
    caller: Caller
    outcome: Outcome
    seconds: float
    moment: float
    is_remembered: bool
    kept: Kept | None


class Notes:
    """The calls that wait to be packed, in so many bytes at most; those for which there is no room are counted."""

    def __init__(self, most_bytes: int, showing: Showing | None) -> None:
        """Begin with none; without `showing` neither arguments nor answers are noted."""
        self._most = most_bytes
        self._showing = showing
        self._waiting: list[Noted] = []
        self._size = 0
        self.held = 0  # Bytes that whoever took some before still holds.
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def note(self, invocation: Invocation, outcome: Outcome, seconds: float) -> None:
        """Note a call that has ended, on the event loop."""
        if outcome == "approval_required":  # It ends later, under the same id.
            return
        if self._size + self.held >= self._most:
            self.dropped += 1
            return
        request = invocation.request
        call_id = request.call.id
        if len(call_id) > _BESIDE:
            call_id = cut_id(call_id)
        kept = None
        if self._showing is not None and not request.is_remembered:
            kept = self._keep(self._showing, invocation, outcome)
        self._size += _BESIDE
        moment, caller = invocation.started + seconds, request.caller
        noted = (invocation.id, call_id, invocation.tool, caller, outcome, seconds, moment, request.is_remembered, kept)
        self._waiting.append(_new(Noted, noted))

    def take(self) -> list[Noted]:
        """Return all that wait."""
        taken, self._waiting = self._waiting, []
        self._size = 0
        return taken

    def _keep(self, showing: Showing, invocation: Invocation, outcome: Outcome) -> Kept:
        message, request = invocation.message, invocation.request
        content: Any = ""
        error = None
        if message is not None:
            content, error = message.content, message.response_metadata.get("error")
            if type(content) is not str:
                content = showing.shorten(content)
            elif len(content) > showing.most:
                content = showing.cut(content)
            self._size += min(len(content), showing.most)
        args = None if outcome == "malformed_arguments" else self._keep_args(showing, invocation)
        has_more = request.state is not None or bool(request.context)
        secrets = _list_secrets(invocation) if invocation.tool.injections else ()
        return _new(Kept, (args, has_more, content, error, secrets))

    def _keep_args(self, showing: Showing, invocation: Invocation) -> Mapping[str, Any] | ShownArgs:
        """Return the arguments themselves where they are seen to be short, which most are."""
        args = invocation.args
        size = 0
        if len(args) <= _FEW:
            for value in args.values():
                if type(value) is str:
                    size += len(value)
                elif type(value) in _CONTAINERS:
                    break
            else:
                if size <= showing.most:
                    self._size += size
                    return args
        shown = showing.write_args(args, invocation.tool.hidden_names)
        self._size += len(shown.text or "")
        return shown


def _list_secrets(invocation: Invocation) -> tuple[str, ...]:
    names = [injection.parameter for injection in invocation.tool.injections if injection.source == "secret"]
    values = (invocation.injected.get(name) for name in names)
    return tuple(value for value in values if isinstance(value, str) and value)
