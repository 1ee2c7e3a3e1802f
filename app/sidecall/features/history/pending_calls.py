"""Note ended calls: references to existing objects, with as little work as possible."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import Context
from datetime import datetime
from typing import Any, NamedTuple

from sidecall.features.history.conversations import ConversationCount, ConversationCounts
from sidecall.features.history.redactor import CallRedactor, ShownArgs
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import NOTES
from sidecall.kernel.core.context import Caller, CallOrigin, cut_id
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.messages import Content
from sidecall.kernel.core.origin import get_origin
from sidecall.kernel.core.secret_mask import hide_spellings
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.text import parse_json
from sidecall.kernel.ports.observer import Outcome

logger = logging.getLogger("sidecall")

# The approval's id, if the call waited; who decided and when; the arguments that the person changed; their comment. The
# last two only where arguments and answers are kept. Most calls have none of it.
KeptDecision = tuple[()] | tuple[str | None, str | None, str | None, Any, str | None]


def keep_decision(request: CallRequest, showing: CallRedactor | None, hidden: Collection[str]) -> KeptDecision:
    """Copy a decision without hidden parameters and secrets."""
    decided, approval_id = request.review.decision, request.review.approval_id
    if decided is None:
        return (approval_id, None, None, None, None)
    asked = reason = None
    if showing is not None:
        reason = None if decided.reason is None else showing.show_content(decided.reason)
        if isinstance(decided.asked_args, Mapping):
            asked = showing.show_args(decided.asked_args, hidden).args
    at = None if decided.at is None else decided.at.isoformat()
    return (approval_id, decided.by, at, asked, reason)


def hide_in_decision(kept: KeptDecision, secrets: Collection[str]) -> KeptDecision:
    """Copy a decision with these secrets masked."""
    if not kept or not secrets:
        return kept
    return (*kept[:3], hide_spellings(kept[3], secrets), hide_spellings(kept[4], secrets))


def show_decision(kept: KeptDecision) -> dict[str, Any]:
    """Return what an entry says of it."""
    approval_id, by, at, asked, reason = kept or (None,) * 5
    decided_at = None if at is None else datetime.fromisoformat(at)
    return {
        "approval_id": approval_id,
        "decided_by": by,
        "decided_at": decided_at,
        "asked_args": asked,
        "reason": reason,
    }


# As many are packed before more have come.
MANY = 256
# Bytes of a noted call besides its texts, about.
_BESIDE = 512
# A JSON text of more characters is copied in a thread, up to so many characters of all together.
_LONG, _MOST_ASIDE = 16_384, 64 * 1024 * 1024
# Seconds for which a reader waits for those that are being copied.
_PATIENCE = 2.0
# First characters of JSON with fields, after white space.
_MAY_BE_JSON = frozenset("{[ \t\n\r")
# Types that a tool may change.
_CONTAINERS = frozenset((dict, list))
# A tuple is made without its constructor, which would double the cost here.
_new = tuple.__new__


# A noted request and answer: the arguments, None where they are not kept; whether they are complete and as received;
# the answer's content, and the error; which arguments were ignored and repaired, if any. A tuple without names, since
# it is made for every call and written to JSON as it is.
KeptNotes = tuple[Sequence[str], Sequence[str]]

KeptValues = (
    tuple[Mapping[str, Any] | None, bool, Any, Any] | tuple[Mapping[str, Any] | None, bool, Any, Any, KeptNotes]
)


class NotedCall(NamedTuple):
    """An ended call that waits to be packed.

    `moment` is on the monotonic clock. `secrets` are those that its tool got, `decision` is a person's.
    """

    id: str
    call_id: str
    tool: CompiledTool
    caller: Caller
    outcome: Outcome
    seconds: float
    moment: float
    is_remembered: bool
    kept: KeptValues | None
    secrets: tuple[str, ...]
    decision: KeptDecision = ()
    cost: int = 0  # in billionths
    origin: CallOrigin = CallOrigin()
    waited: float = 0.0  # in seconds
    attempts: int = 1


class PendingCalls:
    """Calls that wait to be packed, up to a number of bytes; beyond that they are dropped and counted."""

    def __init__(self, most_bytes: int, showing: CallRedactor | None) -> None:
        """Start empty; without `showing` neither arguments nor answers are noted."""
        self._most = most_bytes
        self._showing = showing
        self._waiting: list[NotedCall] = []
        self._size = 0
        # Copied contents are shorter.
        self._longest = _LONG if showing is None else max(_LONG, 2 * showing.most)
        self._aside: set[asyncio.Task[None]] = set()
        self._aside_size = 0
        self.held = 0  # Bytes taken by a packer that is still working.
        # Calls still in the processor's caches are packed at a third of the cost.
        self.when_many: Callable[[], object] = list
        self.dropped = 0
        self.conversations = ConversationCounts()

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, invocation: Invocation) -> ShownArgs | None:
        """Copy arguments that may be changed before the call ends; None if that cannot happen."""
        request, showing = invocation.request, self._showing
        conversation_id = get_origin(invocation)[0]  # By its place, in half the time.
        if conversation_id is not None:  # It is listed though its call may wait for long.
            self._count(request.sender.caller, conversation_id)
        args = request.call.args
        if type(args) is dict:  # Texts are immutable.
            for value in args.values():
                if type(value) in _CONTAINERS:
                    if showing is None or request.job is not None:
                        return None
                    return showing.show_args(args, invocation.tool.hidden_names)
        return None

    def note(self, invocation: Invocation, outcome: Outcome, seconds: float, copied: ShownArgs | None = None) -> None:
        """Note an ended call, on the event loop; `copied` are its arguments at the start."""
        if outcome == "approval_required":  # It ends later, under the same id.
            return
        request = invocation.request
        origin, caller = request.origin or get_origin(invocation), request.sender.caller
        if origin.conversation_id is not None:
            self._count(caller, origin.conversation_id, calls=1, errors=int(outcome != "success"))
        if self._size + self.held >= self._most:
            self.dropped += 1
            return
        call_id, review, is_job = request.call.id, request.review, request.job is not None
        if len(call_id) > _BESIDE:
            call_id = cut_id(call_id)
        kept = None
        if self._showing is not None and not is_job:
            kept = self._keep(self._showing, invocation, outcome, copied)
        self._size += _BESIDE
        tool, moment, mask = invocation.tool, invocation.started + seconds, invocation.secrets.mask
        secrets = () if mask is None else mask.spellings
        decision: KeptDecision = ()
        # The ledger keeps that of durable calls.
        if not is_job and (review.approval_id is not None or review.decision is not None):
            decision = self._keep_decision(request, tool)
        cost = 0 if invocation.cost is None else invocation.cost.billionths
        ended = (invocation.id, call_id, tool, caller, outcome, seconds, moment, is_job, kept, secrets)
        said = (decision, cost, origin, invocation.waited, invocation.attempts)
        noted = _new(NotedCall, (*ended, *said))
        if kept is not None and type(kept[2]) is str and len(kept[2]) > self._longest:
            self._begin_aside(noted, kept[2])
        else:
            self._let_wait(noted)

    def _let_wait(self, noted: NotedCall) -> None:
        self._waiting.append(noted)
        if len(self._waiting) == MANY:
            asyncio.get_running_loop().call_soon(self.when_many)

    def _is_for_aside(self, content: Content) -> bool:
        is_long = type(content) is str and len(content) > self._longest
        return is_long and content[:1] in _MAY_BE_JSON and self._aside_size + len(content) <= _MOST_ASIDE

    def _begin_aside(self, noted: NotedCall, content: str) -> None:
        self._size -= len(content)  # Until it is copied it has a bound of its own.
        self._aside_size += len(content)
        task = asyncio.create_task(self._note_aside(noted, content), context=Context())
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def _note_aside(self, noted: NotedCall, content: str) -> None:
        """Copy a long content in a thread; a call that is not noted counts as dropped."""
        showing, kept = self._showing, noted.kept
        assert showing is not None
        assert kept is not None
        shown = None
        try:
            shown = await NOTES.run_for(key_of(noted.caller), showing.show_content, content)
        except Exception:
            logger.exception("the answer of a call could not be copied into the history")
        finally:
            self._aside_size -= len(content)
            self.dropped += shown is None
        if shown is not None:
            self._size += len(shown)
            self._let_wait(noted._replace(kept=(*kept[:2], shown, *kept[3:])))

    async def settle(self) -> None:
        """Wait, not for long, until the long contents of calls noted before are copied."""
        if self._aside:
            await asyncio.wait(self._aside, timeout=_PATIENCE)

    def _count(self, caller: Caller, conversation_id: str, calls: int = 0, errors: int = 0) -> None:
        now = time.time()
        self.conversations.note(caller, conversation_id, ConversationCount(now, now, calls, errors))

    def _keep_decision(self, request: CallRequest, tool: CompiledTool) -> KeptDecision:
        self._size += 0 if self._showing is None else 2 * self._showing.most
        return keep_decision(request, self._showing, tool.hidden_names)

    def take(self) -> list[NotedCall]:
        """Return all that wait."""
        taken, self._waiting = self._waiting, []
        self._size = 0
        return taken

    def _keep(
        self, showing: CallRedactor, invocation: Invocation, outcome: Outcome, copied: ShownArgs | None
    ) -> KeptValues:
        message, request, tool = invocation.message, invocation.request, invocation.tool
        content: Content = ""
        error = None
        if message is not None:
            said = message.__dict__  # All at once, since attribute access on a model is slow.
            content, error = said["content"], said["response_metadata"].get("error")
            # Values that take longer are made by authors' code, and rare.
            if type(content) is not str or len(content) > showing.most or content[:1] in _MAY_BE_JSON:
                content = content if self._is_for_aside(content) else showing.show_content(content)
            if error is not None:
                error = showing.show_error(error)
            self._size += len(content)
        sent, args = invocation.args, None if outcome == "malformed_arguments" else invocation.args or {}
        is_whole = request.state is None and not request.context
        size = None if tool.hidden_names or copied is not None else showing.measure_if_plain(sent)
        if args is not None and size is None:
            args, is_same = copied or showing.show_args(_read_again(invocation), tool.hidden_names)
            is_whole = is_whole and is_same
            size = 0 if args is None else showing.most
        self._size += size or 0
        if invocation.remarks.ignored or invocation.remarks.repaired:  # Few have any.
            notes = showing.show_notes(invocation.remarks.ignored), showing.show_notes(invocation.remarks.repaired)
            self._size += 2 * showing.most
            return args, is_whole and args is not None, content, error, notes
        return args, is_whole and args is not None, content, error


def _read_again(invocation: Invocation) -> Mapping[str, Any]:
    """Return arguments as they were sent: the parsed values may have been changed since."""
    sent = invocation.request.call.args
    if not invocation.args or not isinstance(sent, str):
        return invocation.args
    # Without the repair, which takes a hundred times as long.
    read: Mapping[str, Any] = parse_json((invocation.remarks.written or sent).encode())
    return read
