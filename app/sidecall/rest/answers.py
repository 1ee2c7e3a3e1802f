"""Turn the body of a request into the bytes of its answer, whichever way it came."""

from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json

from sidecall.core.approval import ApprovalRequired
from sidecall.core.errors import RequestError
from sidecall.core.invocation import CallRequest
from sidecall.http.context import RequestContext
from sidecall.http.quota import quota_headers
from sidecall.http.reply import Reply
from sidecall.rest.dialects import DialectName, ReceivedCall, read_call_text, write_answer
from sidecall.rest.parts import Parts


async def answer_call(parts: Parts, body: bytes, context: RequestContext, form: DialectName | None = None) -> Reply:
    """Run the call that a body holds; the answer has the form that was asked for, or that of the call.

    Raises:
        RequestError: The calling program has to mend something.
    """
    sent = read_call_text(body)
    try:
        message = await parts.pipeline.run(make_request(sent, context))
    except ApprovalRequired as waiting:
        location = {"Location": f"/approvals/{waiting.approval.id}"}
        return Reply(to_json(waiting.approval), 202, location | _quota_headers(parts, context))
    except RequestError as error:
        error.quota = error.quota or parts.quota_of(context.caller)
        raise
    return Reply(to_json(write_answer(message, form or sent.dialect)), 200, _quota_headers(parts, context))


async def answer_calls(
    parts: Parts, calls: Sequence[ReceivedCall], context: RequestContext, form: DialectName | None = None
) -> Reply:
    """Run the calls of a batch, and answer each in its place."""
    messages = await parts.pipeline.run_all([make_request(sent, context) for sent in calls])
    answers: list[Any] = [
        write_answer(message, form or sent.dialect) for message, sent in zip(messages, calls, strict=True)
    ]
    return Reply(to_json(answers), 200, _quota_headers(parts, context))


def _quota_headers(parts: Parts, context: RequestContext) -> dict[str, str]:
    return {} if parts.quotas is None else quota_headers(parts.quotas.left(context.caller))


def make_request(sent: ReceivedCall, context: RequestContext) -> CallRequest:
    """Put a call, what stood beside it, and what its request is about together."""
    return CallRequest(
        sent.call,
        context.caller,
        sent.state,
        sent.context,
        context.headers,
        presence=context.presence,
        deadline=context.deadline,
    )
