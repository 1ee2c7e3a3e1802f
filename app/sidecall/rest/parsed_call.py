"""A parsed call."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ValidationError
from uuid_utils import uuid4

from sidecall.http.context import RequestContext
from sidecall.kernel.core.errors import NotAToolCall
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.explain import explain
from sidecall.rest.body_errors import sum_up

DialectName = Literal["langchain", "openai", "openai-responses", "anthropic", "gemini"]


class ReceivedCall(Struct):
    """A call as it was understood, its dialect, and what came with it.

    `is_async` is true when the model does not wait for the answer; `hash` is the contract of the tool that the program
    knows.
    """

    call: ToolCall
    dialect: DialectName
    state: Any
    context: Mapping[str, Any]
    callback_url: str | None = None
    is_async: bool = False
    hash: str | None = None


def make_request(sent: ReceivedCall, context: RequestContext) -> CallRequest:
    """Join a call, what came with it, and the context of its request."""
    # Positional: keyword arguments would cost as much as a stage.
    return CallRequest(
        sent.call,
        context if sent.hash is None else replace(context, pinned=(sent.hash,)),
        sent.state,
        sent.context,
    )


def explain_unfit(form: str, error: ValidationError, example: Any) -> NotAToolCall:
    """Make the refusal of a call that has not the form which its type promises."""
    if (summary := sum_up(error)) is not None:
        return NotAToolCall(
            f"The call has the form of {form}, but {summary['msg']}.", errors=[summary], example=example
        )
    details = error.errors(include_url=False)
    errors = [{"loc": list(item["loc"]), "type": item["type"], "msg": explain(item)} for item in details]
    lines = "; ".join(f"`{format_path(item['loc'])}`: {explain(item)}" for item in details)
    return NotAToolCall(f"The call has the form of {form}, but {lines}.", errors=errors, example=example)


def choose_call_id(sent: str | int | None) -> str:
    """Return the id that was sent, or make one."""
    return f"call_{uuid4().hex}" if sent is None else str(sent)
