"""Durable calls and approvals, as steps."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

import httpx

from sidecall.client.accumulator import write_body
from sidecall.client.answers import CallApproval, CallState, PersonVerdict
from sidecall.client.failures import ApprovalNeeded, UnknownAnswer
from sidecall.client.options import CallOptions
from sidecall.client.retries import Persistence, send
from sidecall.client.steps import Asking, Pausing, Sending, Steps

# The server bounds its own waiting too (SIDECALL_MAX_WAIT); longer waits are several requests.
_LONG_POLL = 30.0
# A request that waits for the end of a call does not hear that a person is waited for, so these are shorter.
_SHORT_POLL = 5.0

_PAUSE = 0.2
# Of one call, which might ask without end.
_MOST_QUESTIONS = 100

JSON_BODY = {"Content-Type": "application/json"}


@dataclass
class Remembered:
    """Requests about calls and approvals by id."""

    persistence: Persistence = field(default_factory=Persistence)

    def show_call(self, call_id: str, wait: float = 0, known: CallState | None = None) -> Steps[CallState]:
        """Get a call, once it has ended or the time is over; a known end is not requested again."""
        if known is not None and known.has_ended:
            return known
        headers = {"Prefer": f"wait={int(wait)}"} if wait >= 1 else {}
        path = f"/tool_calls/{escape(call_id)}"
        request = Sending("GET", path, [("format", "langchain")], headers, is_safe=True, patience=wait)
        return CallState.read(read_answer((yield from self._send(request)), is_state))

    def wait_for(self, call_id: str, seconds: float | None, known: CallState | None = None) -> Steps[CallState]:
        """Wait until a call has ended, at most `seconds`."""
        until = float("inf") if seconds is None else time.monotonic() + seconds
        left = until - time.monotonic()
        while True:
            state = yield from self.show_call(call_id, min(left, _LONG_POLL), known)
            left = until - time.monotonic()
            if state.has_ended or left <= 0:
                return state
            # A server waits for whole seconds, and not for longer than it is told to: it may answer at once.
            yield Pausing(min(left, _PAUSE))

    def wait_for_person(self, call_id: str) -> Steps[CallState]:
        """Wait until a call has ended, or itself waits for a person."""
        wait = 1.0
        while True:
            state = yield from self.show_call(call_id, wait)
            if state.has_ended or state.awaited is not None:
                return state
            wait = min(wait * 2, _SHORT_POLL)
            yield Pausing(0.2)

    def cancel(self, call_id: str) -> Steps[CallState]:
        """Cancel a waiting or running call."""
        request = Sending("POST", f"/tool_calls/{escape(call_id)}/cancel")
        return CallState.read(read_answer((yield from self._send(request)), is_state))

    def list_approvals(self, status: str | None) -> Steps[list[CallApproval]]:
        """List approvals, oldest first, page by page."""
        params = [("status", status)] if status else []
        found: list[CallApproval] = []
        response = yield from self._get("/approvals", params)
        while True:
            found += map(CallApproval.read, read_answer(response, is_list_of(is_approval)))
            following = response.links.get("next", {}).get("url")
            if following is None:
                return found
            response = yield from self._get(following)

    def show_approval(self, approval_id: str, form: str = "langchain") -> Steps[CallApproval]:
        """Get an approval."""
        response = yield from self._get(f"/approvals/{escape(approval_id)}", [("format", form)])
        return CallApproval.read(read_answer(response, is_approval))

    def decide(self, approval_id: str, verdict: PersonVerdict, form: str = "langchain") -> Steps[CallApproval]:
        """Decide about a call; an approved one runs, and is awaited."""
        path = f"/approvals/{escape(approval_id)}"
        request = Sending("POST", path, [("format", form)], JSON_BODY, write_body(verdict.body))
        return CallApproval.read(read_answer((yield from self._send(request)), is_approval))

    def decide_waiting(self, approval_id: str, form: str, options: CallOptions) -> Steps[Any]:
        """Ask the program for a decision, or wait for one, and return the call's answer in a dialect.

        Raises:
            ApprovalNeeded: There is no decision.
        """
        approval = yield from self.show_approval(approval_id, form)
        ask, left, pause = options.get("ask"), options.get("approval_wait", 0.0), 0.25
        # A call may wait for a person's signing in, and then for a decision; its tool may ask several times.
        unanswered, most = None, _MOST_QUESTIONS
        while approval.document.get("message") is None:
            question = _read_question(approval)
            if approval.status == "pending" and ask is not None and most and question != unanswered:
                most -= 1
                verdict = read_verdict((yield Asking(ask, approval)))
                if verdict is None or (approval.sign_in is not None and verdict.decision == "approve"):
                    # A sign-in cannot be decided by the program: the call itself sees it.
                    unanswered = question
                    approval = yield from self.show_approval(approval_id, form)
                else:
                    unanswered = None
                    approval = yield from self.decide(approval_id, _put_question(verdict, approval), form)
                continue
            # One that is approved runs, and has its answer soon.
            if approval.status == "pending" and left <= 0:
                raise ApprovalNeeded([approval])
            yield Pausing(pause)
            left, pause = left - pause, min(pause * 1.5, 5.0)
            approval = yield from self.show_approval(approval_id, form)
        return approval.document["message"]

    def _get(self, path: str, params: list[tuple[str, str]] | None = None) -> Steps[httpx.Response]:
        response: httpx.Response = yield from self._send(Sending("GET", path, params or [], is_safe=True))
        return response

    def _send(self, request: Sending) -> Steps[Any]:
        return (yield from send(request, self.persistence))


def _put_question(verdict: PersonVerdict, approval: CallApproval) -> PersonVerdict:
    """Limit a decision to the question that was shown; older servers do not number questions."""
    number = approval.document.get("question")
    return verdict if verdict.question is not None else replace(verdict, question=number)


def _read_question(approval: CallApproval) -> tuple[Any, ...]:
    """Return the question, for comparison with another one."""
    provider = None if approval.sign_in is None else approval.sign_in.provider
    document = approval.document
    number = document.get("question") if provider is None else None
    return (provider, number, approval.description, approval.preview, document.get("payload"))


def read_verdict(said: Any) -> PersonVerdict | None:
    """Read the result of a program's `ask` function: True, False, a verdict, or None."""
    if said is None or isinstance(said, PersonVerdict):
        return said
    if isinstance(said, bool):
        return PersonVerdict("approve" if said else "reject")
    if isinstance(said, Mapping):
        return PersonVerdict(**said)
    raise TypeError(f"ask has to return a PersonVerdict, its members, True, False or None, not {said!r:.100}")


def escape(part: str) -> str:
    """Escape an id or name for a path."""
    return quote(part, safe="")


_SHOWN = 200

_EVENTS = "text/event-stream"

_NAMED = frozenset(("type", "name", "title", "function", "functionDeclarations"))

Fits = Callable[[Any], bool]


def is_message(value: Any) -> bool:
    """Return whether a value is the answer to a call."""
    return isinstance(value, Mapping) and "content" in value and isinstance(value.get("tool_call_id"), str)


def is_state(value: Any) -> bool:
    """Return whether a value is the state of a durable call."""
    return isinstance(value, Mapping) and all(isinstance(value.get(key), str) for key in ("id", "status"))


def is_approval(value: Any) -> bool:
    """Return whether a value is an approval."""
    return is_state(value) and isinstance(value.get("tool_call"), Mapping)


def is_preview(value: Any) -> bool:
    """Return whether a value is the result of a dry run."""
    return isinstance(value, Mapping) and isinstance(value.get("would_run"), bool)


def is_tool(value: Any) -> bool:
    """Return whether a value is the description of a tool."""
    return isinstance(value, Mapping) and isinstance(value.get("name"), str)


def is_any_answer(value: Any) -> bool:
    """Return whether a value may be the answer to a call, in any provider's form."""
    return isinstance(value, Mapping) and not value.keys().isdisjoint(("type", "role", "functionResponse"))


def is_definition(form: str) -> Fits:
    """Return a check for definitions in a form; Gemini's may be any object."""
    if form == "gemini":
        return lambda value: isinstance(value, Mapping) and bool(value)
    return lambda value: isinstance(value, Mapping) and not _NAMED.isdisjoint(value)


def is_list_of(fits: Fits, count: int | None = None) -> Fits:
    """Return a check for a list of such values, of this length."""
    return lambda value: isinstance(value, list) and count in (None, len(value)) and all(map(fits, value))


def read_answer(response: httpx.Response, fits: Fits) -> Any:
    """Return the JSON of an answer.

    Raises:
        UnknownAnswer: It is none, or does not fit.
    """
    try:
        value = response.json()
    except ValueError:
        raise make_unknown(response) from None
    if not fits(value):
        raise make_unknown(response)
    return value


def make_unknown(response: httpx.Response) -> UnknownAnswer:
    """Build the error for an answer that no Sidecall server gives, with its beginning."""
    said = response.text.strip()[:_SHOWN] or "it is empty"
    return UnknownAnswer(f"the answer ({response.status_code}) is none of a Sidecall server: {said}")


def comes_as_events(response: httpx.Response) -> bool:
    """Return whether an answer is an event stream, or has no content type."""
    kind: str = response.headers.get("Content-Type", _EVENTS)
    return kind.lower().startswith(_EVENTS)
