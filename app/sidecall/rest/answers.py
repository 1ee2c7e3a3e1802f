"""Turn the body of a request into the bytes of its answer, whichever way it came."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json
from starlette.datastructures import Headers

from sidecall.core.approval import ApprovalRequired
from sidecall.core.context import Presence
from sidecall.core.errors import RequestError
from sidecall.core.invocation import CallRequest
from sidecall.http.quota import quota_headers
from sidecall.rest.dialects import DialectName, ReceivedCall, read_call_text, write_answer
from sidecall.rest.parts import Parts


@dataclass(frozen=True, slots=True)
class Terms:
    """Hold what a client says about its answer: in which form (None: that of the call), and by when.

    `deadline` is a reading of `time.monotonic()`.
    """

    form: DialectName | None = None
    deadline: float | None = None


AS_IT_COMES = Terms()


@dataclass(slots=True)
class Reply:
    """Hold an answer in JSON."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


async def answer_call(
    parts: Parts, body: bytes, headers: Headers, terms: Terms = AS_IT_COMES, presence: Presence | None = None
) -> Reply:
    """Run the call that a body holds, for a client that may hang up.

    Raises:
        RequestError: The calling program has to mend something.
    """
    sent = read_call_text(body)
    request = request_of(parts, sent, headers, terms, presence)
    try:
        message = await parts.pipeline.run(request)
    except ApprovalRequired as waiting:
        location = {"Location": f"/approvals/{waiting.approval.id}"}
        return Reply(to_json(waiting.approval), 202, location | _left(parts, request))
    except RequestError as error:
        error.quota = error.quota or parts.quota_of(request.caller)
        raise
    return Reply(to_json(write_answer(message, terms.form or sent.dialect)), headers=_left(parts, request))


def _left(parts: Parts, request: CallRequest) -> dict[str, str]:
    return {} if parts.quotas is None else quota_headers(parts.quotas.left(request.caller))


async def answer_calls(
    parts: Parts,
    calls: Sequence[ReceivedCall],
    headers: Headers,
    terms: Terms = AS_IT_COMES,
    presence: Presence | None = None,
) -> Reply:
    """Run the calls of a batch, and answer each in its place."""
    requests = [request_of(parts, sent, headers, terms, presence) for sent in calls]
    messages = await parts.pipeline.run_all(requests)
    answers: list[Any] = [
        write_answer(message, terms.form or sent.dialect) for message, sent in zip(messages, calls, strict=True)
    ]
    return Reply(to_json(answers), headers=quota_headers(parts.quota_of(parts.caller_of(headers))))


def request_of(
    parts: Parts, sent: ReceivedCall, headers: Headers, terms: Terms = AS_IT_COMES, presence: Presence | None = None
) -> CallRequest:
    """Put a call and what came beside it together.

    Raises:
        InvalidCaller: The header that says who calls does not name one caller.
    """
    request = CallRequest(sent.call, state=sent.state, context=sent.context, headers=headers, presence=presence)
    request.deadline = terms.deadline
    if parts.callers is not None:
        request.caller = parts.callers.of(headers)
    return request
