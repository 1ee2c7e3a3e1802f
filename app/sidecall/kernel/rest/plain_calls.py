"""Parse and answer a call in its most common form; other forms are handled by the dialects."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from sidecall.features.native_items.rest.received import DialectName, PlainCall, ReceivedCall
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.http.body import LARGE, parse_body
from sidecall.kernel.json_data.text import is_finite
from sidecall.kernel.registry import Registry
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.kernel.rest import dialects as _dialects
else:
    _dialects = Later("sidecall.kernel.rest.dialects")


_read_plain = PlainCall.__pydantic_validator__.validate_json
# With what words begin that pydantic takes for numbers; where they stand in a text, the long way finds out. As numbers,
# since to look for one in bytes takes a tenth of the time.
_N, _I = b"NI"


def read_call_text(body: bytes, registry: Registry) -> ReceivedCall:
    """Parse JSON text as one call of a tool of this registry.

    Raises:
        MalformedJSON: It is not JSON.
        NotAToolCall: It is no call.
    """
    return read_other_call(body, read_plain_call(body), registry)


def read_other_call(body: bytes, plain: PlainCall | None, registry: Registry) -> ReceivedCall:
    """Do the same after a plain call was tried."""
    if plain is None:
        return _dialects.read_call(parse_body(body), registry)
    return ReceivedCall(plain, "langchain", plain.state, plain.context or {}, None, False, plain.hash)


def read_plain_call(body: bytes) -> PlainCall | None:
    """Parse JSON text in the most common form; None for other forms and for invalid ones."""
    # Large bodies are read sooner otherwise, since pydantic makes a tree of its own before it makes ours.
    if len(body) > LARGE or ((_N in body or _I in body) and (b"NaN" in body or b"Infinity" in body)):
        return None
    try:
        plain: PlainCall = _read_plain(body)
    except ValidationError:
        return None  # Another dialect, or one of the many things that the long way knows how to explain.
    # pydantic takes numbers that round to infinity.
    sent = plain.__dict__  # At once, since a model looks far for each attribute.
    for value in sent["args"].values():
        if type(value) is not str and not is_finite(value):
            return None
    state, context = sent["state"], sent["context"]
    return plain if (state is context is None) or is_finite([state, context]) else None


def write_answer(message: ToolMessage, dialect: DialectName) -> BaseModel | dict[str, Any]:
    """Write a ToolMessage in a dialect; in the form of the call's own item if that belongs to the dialect."""
    is_plain = dialect == "langchain" and not message.additional_kwargs
    return message if is_plain else _dialects.write_answer(message, dialect)
