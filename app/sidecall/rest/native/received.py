"""A call as it was understood."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError
from uuid_utils import uuid4

from sidecall.core.errors import NotAToolCall
from sidecall.core.messages import ToolCall
from sidecall.core.pointer import format_path
from sidecall.later import Later
from sidecall.records import dataclass

if TYPE_CHECKING:
    from sidecall.schema import explain as _explain
else:
    _explain = Later("sidecall.schema.explain")

DialectName = Literal["langchain", "openai", "openai-responses", "anthropic", "gemini"]


@dataclass(slots=True)
class ReceivedCall:
    """A call as it was understood, the dialect it came in, and what stood beside it.

    `is_async` says that the model does not wait for the answer, `hash` which contract of the tool the program knows.
    """

    call: ToolCall
    dialect: DialectName
    state: Any
    context: Mapping[str, Any]
    callback_url: str | None = None
    is_async: bool = False
    hash: str | None = None


def explain_unfit(form: str, error: ValidationError, example: Any) -> NotAToolCall:
    """Make the refusal of a call that has not the form which its type promises."""
    details = error.errors(include_url=False)
    errors = [{"loc": list(item["loc"]), "type": item["type"], "msg": _explain.explain(item)} for item in details]
    lines = "; ".join(f"`{format_path(item['loc'])}`: {_explain.explain(item)}" for item in details)
    return NotAToolCall(f"The call has the form of {form}, but {lines}.", errors=errors, example=example)


def choose_call_id(sent: str | int | None) -> str:
    """Return the id that was sent, or make one."""
    return f"call_{uuid4().hex}" if sent is None else str(sent)
