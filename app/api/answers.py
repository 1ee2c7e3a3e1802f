"""Turn the body of a request into the bytes of its answer, whichever way it came."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from app.api.dialects import DialectName, Sent, read_call_text, write_answer
from app.api.parts import Parts
from app.core.approval import ApprovalRequired
from app.core.context import Presence
from app.core.invocation import CallRequest


@dataclass(slots=True)
class Reply:
    """Hold an answer in JSON."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


async def answer_call(
    parts: Parts, body: bytes, headers: Mapping[str, str], form: DialectName | None, presence: Presence | None = None
) -> Reply:
    """Run the call that a body holds, for a client that may hang up.

    Raises:
        RequestError: The calling program has to mend something.
    """
    sent = read_call_text(body)
    try:
        message = await parts.pipeline.run(request_of(sent, headers, presence))
    except ApprovalRequired as waiting:
        return Reply(to_json(waiting.approval), 202, {"Location": f"/approvals/{waiting.approval.id}"})
    return Reply(to_json(write_answer(message, form or sent.dialect)))


async def answer_calls(
    parts: Parts,
    calls: Sequence[Sent],
    headers: Mapping[str, str],
    form: DialectName | None,
    presence: Presence | None = None,
) -> Reply:
    """Run the calls of a batch, and answer each in its place."""
    messages = await parts.pipeline.run_all([request_of(sent, headers, presence) for sent in calls])
    answers: list[Any] = [
        write_answer(message, form or sent.dialect) for message, sent in zip(messages, calls, strict=True)
    ]
    return Reply(to_json(answers))


def request_of(sent: Sent, headers: Mapping[str, str], presence: Presence | None = None) -> CallRequest:
    """Put a call and what came beside it together."""
    return CallRequest(sent.call, state=sent.state, context=sent.context, headers=headers, presence=presence)
