"""Read a call as most programs send it, and answer it; all else is for whoever knows each provider's form."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from sidecall.core.json_text import is_finite
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.http.body import LARGE, parse_body
from sidecall.later import Later
from sidecall.registry import Registry
from sidecall.rest.native.received import DialectName, ReceivedCall

if TYPE_CHECKING:
    from sidecall.rest import dialects as _dialects
else:
    _dialects = Later("sidecall.rest.dialects")


class _Plain(ToolCall):
    """A LangChain ToolCall as most programs send it, read from JSON text in one step."""

    model_config = ConfigDict(extra="forbid")

    args: dict[str, Any]
    item: SkipJsonSchema[None] = None
    state: Any = None
    context: dict[str, Any] | None = None
    hash: Annotated[str, Field(max_length=128)] | None = None


_read_plain = _Plain.__pydantic_validator__.validate_json
# With what words begin that pydantic takes for numbers; where they stand in a text, the long way finds out. As numbers,
# since to look for one in bytes takes a tenth of the time.
_N, _I = b"NI"


def read_call_text(body: bytes, registry: Registry) -> ReceivedCall:
    """Understand JSON text as one call of a tool of this registry.

    Raises:
        MalformedJSON: It is not JSON.
        NotAToolCall: It is no call.
    """
    # It is quicker for large bodies, too, of which pydantic makes a tree of its own before it makes ours.
    if len(body) > LARGE or ((_N in body or _I in body) and (b"NaN" in body or b"Infinity" in body)):
        return _dialects.read_call(parse_body(body), registry)
    try:
        plain: _Plain = _read_plain(body)
    except ValidationError:
        return _dialects.read_call(
            parse_body(body), registry
        )  # Another dialect, or one of the many things that it knows how to explain.
    # pydantic takes numbers that round to infinity.
    sent = plain.__dict__  # At once, since a model looks far for each attribute.
    state, context = sent["state"], sent["context"]
    for value in sent["args"].values():
        if type(value) is not str and not is_finite(value):
            return _dialects.read_call(parse_body(body), registry)
    if state is context is None:
        return ReceivedCall(plain, "langchain", None, {}, None, False, sent["hash"])
    if not is_finite([state, context]):
        return _dialects.read_call(parse_body(body), registry)
    return ReceivedCall(plain, "langchain", state, context or {}, None, False, sent["hash"])


def write_answer(message: ToolMessage, dialect: DialectName) -> BaseModel | dict[str, Any]:
    """Write a ToolMessage in a dialect; in the form of the call's own item where that is of this dialect."""
    is_plain = dialect == "langchain" and not message.additional_kwargs
    return message if is_plain else _dialects.write_answer(message, dialect)
