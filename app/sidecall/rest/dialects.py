"""Understand a call in each provider's form, and answer in the same."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from uuid_utils import uuid4

from sidecall.core.errors import NotAToolCall
from sidecall.core.json_text import is_finite, name_json_type
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.pointer import format_path
from sidecall.http.body import LARGE, parse_body
from sidecall.rest.wire import (
    AnthropicToolUse,
    CallBody,
    GeminiFunctionCallPart,
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
    ToolSearchCall,
)
from sidecall.rest.writing import (
    write_anthropic,
    write_found_tools,
    write_gemini,
    write_langchain,
    write_openai,
    write_responses,
)
from sidecall.schema.explain import explain
from sidecall.schema.forms.deferred import SEARCH_BY_PATTERN, SEARCH_BY_WORDS

DialectName = Literal["langchain", "openai", "openai-responses", "anthropic", "gemini"]
# The form of an answer: a dialect, or what a search for tools is answered with in the Responses API.
WrittenForm = DialectName | Literal["tool-search"]

# One key that only this dialect's calls have, and its value of `type`, if it has any.
_SIGNS: Mapping[DialectName, tuple[str, str | None]] = {
    "langchain": ("args", "tool_call"),
    "openai": ("function", "function"),
    "openai-responses": ("arguments", "function_call"),
    "anthropic": ("input", "tool_use"),
    "gemini": ("functionCall", None),
}
# As Google's library writes it.
_IN_PYTHON = "function_call"
_MODELS: Mapping[DialectName, type[CallBody]] = {
    "langchain": LangChainToolCall,
    "openai": OpenAIToolCall,
    "openai-responses": ResponsesFunctionCall,
    "anthropic": AnthropicToolUse,
    "gemini": GeminiFunctionCallPart,
}
EXAMPLES: Mapping[DialectName, dict[str, Any]] = {
    "langchain": {"name": "calculator", "args": {"expression": "6 * 7"}, "id": "call_1", "type": "tool_call"},
    "openai": {
        "id": "call_1",
        "type": "function",
        "function": {"name": "calculator", "arguments": '{"expression": "6 * 7"}'},
    },
    "openai-responses": {
        "type": "function_call",
        "call_id": "call_1",
        "name": "calculator",
        "arguments": '{"expression": "6 * 7"}',
    },
    "anthropic": {"type": "tool_use", "id": "call_1", "name": "calculator", "input": {"expression": "6 * 7"}},
    "gemini": {"functionCall": {"id": "call_1", "name": "calculator", "args": {"expression": "6 * 7"}}},
}


SEARCH_EXAMPLE: dict[str, Any] = {
    "type": "tool_search_call",
    "call_id": "call_1",
    "execution": "client",
    "arguments": {"query": "add and multiply"},
}
# Its value of `type`; all other keys are those of other calls.
_SEARCH = SEARCH_EXAMPLE["type"]


@dataclass(slots=True)
class ReceivedCall:
    """A call as it was understood, the dialect it came in, and what stood beside it.

    `is_async` says that the model does not wait for the answer, `hash` which contract of the tool the program knows.
    """

    call: ToolCall
    dialect: WrittenForm
    state: Any
    context: Mapping[str, Any]
    callback_url: str | None = None
    is_async: bool = False
    hash: str | None = None


@dataclass(frozen=True, slots=True)
class Shared:
    """What the program sends once for all calls of a batch."""

    state: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    callback_url: str | None = None

    def complete(self, sent: ReceivedCall) -> ReceivedCall:
        """Add to a call what does not stand beside itself."""
        sent.state = self.state if sent.state is None else sent.state
        sent.context = {**self.context, **sent.context} if self.context else sent.context
        sent.callback_url = sent.callback_url or self.callback_url
        return sent


class _Plain(ToolCall):
    """A LangChain ToolCall as most programs send it, read from JSON text in one step."""

    model_config = ConfigDict(extra="forbid")

    args: dict[str, Any]
    state: Any = None
    context: dict[str, Any] | None = None
    hash: Annotated[str, Field(max_length=128)] | None = None


_read_plain = _Plain.__pydantic_validator__.validate_json


def read_call_text(body: bytes) -> ReceivedCall:
    """Understand JSON text as one call.

    Raises:
        MalformedJSON: It is not JSON.
        NotAToolCall: It is no call.
    """
    # Words that pydantic takes for numbers; where they stand in a text, the long way finds out. It is quicker for large
    # bodies, too, of which pydantic makes a tree of its own before it makes ours.
    if len(body) > LARGE or body.find(b"NaN") >= 0 or body.find(b"Infinity") >= 0:  # `in` takes seven times as long.
        return read_call(parse_body(body))
    try:
        plain: _Plain = _read_plain(body)
    except ValidationError:
        return read_call(parse_body(body))  # Another dialect, or one of the many things that it knows how to explain.
    # pydantic takes numbers that round to infinity.
    sent = plain.__dict__  # At once, since a model looks far for each attribute.
    state, context = sent["state"], sent["context"]
    if not (is_finite(sent["args"]) and (state is context is None or is_finite([state, context]))):
        return read_call(parse_body(body))
    return ReceivedCall(plain, "langchain", state, context or {}, hash=sent["hash"])


def read_call(body: Any) -> ReceivedCall:
    """Understand a request body as one call.

    Raises:
        NotAToolCall: It is none, or mixes two dialects; the error says what was expected and shows a right one.
    """
    if not isinstance(body, dict):
        raise NotAToolCall(_not_an_object(body), example=EXAMPLES["langchain"])
    if body.get("type") == _SEARCH:
        return _read_search(body)
    dialect = _recognize(body)
    try:
        sent = _MODELS[dialect].model_validate(body)
    except ValidationError as error:
        raise _unfit(dialect, error) from None
    name, args, call_id = _READERS[dialect](sent)
    call = ToolCall(name=name, args={} if args is None else args, id=_call_id(call_id))
    is_async = isinstance(sent, ResponsesFunctionCall) and sent.is_async is True
    return ReceivedCall(call, dialect, sent.state, sent.context or {}, sent.callback_url, is_async, sent.hash)


def _read_search(body: dict[str, Any]) -> ReceivedCall:
    try:
        sent = ToolSearchCall.model_validate(body)
    except ValidationError as error:
        raise _unfit("openai-responses", error, SEARCH_EXAMPLE) from None
    args = {} if sent.arguments is None else sent.arguments
    name = SEARCH_BY_PATTERN if "pattern" in args else SEARCH_BY_WORDS
    call = ToolCall(name=name, args=args, id=_call_id(sent.call_id))
    return ReceivedCall(call, "tool-search", sent.state, sent.context or {}, sent.callback_url)


def _not_an_object(body: Any) -> str:
    if isinstance(body, list):
        return "One call is a JSON object; send arrays of calls to POST /tool_calls/batch."
    return f"A call is a JSON object, not {name_json_type(body)}."


def _recognize(body: dict[str, Any]) -> DialectName:
    by_key = [
        name for name, (key, _) in _SIGNS.items() if key in body or (key == "functionCall" and _IN_PYTHON in body)
    ]
    by_type = [name for name, (_, kind) in _SIGNS.items() if kind is not None and kind == body.get("type")]
    found = list(dict.fromkeys((*by_type, *by_key)))
    if len(found) == 1 and (by_type or body.get("type") is None):
        return found[0]
    example = EXAMPLES[found[0] if found else "langchain"]
    if len(found) > 1:
        raise NotAToolCall(f"The call mixes the forms of {' and '.join(found)}; send one of them.", example=example)
    kinds = ", ".join(f'"{kind}" with `{key}`' for key, kind in _SIGNS.values() if kind is not None)
    text = f"The body is not a call. A call has one of these types: {kinds}; or it is Gemini's `functionCall`."
    raise NotAToolCall(text, example=example)


def _unfit(dialect: DialectName, error: ValidationError, example: dict[str, Any] | None = None) -> NotAToolCall:
    details = error.errors(include_url=False)
    errors = [{"loc": list(item["loc"]), "type": item["type"], "msg": explain(item)} for item in details]
    lines = "; ".join(f"`{format_path(item['loc'])}`: {explain(item)}" for item in details)
    example = example or EXAMPLES[dialect]
    return NotAToolCall(f"The call has the form of {dialect}, but {lines}.", errors=errors, example=example)


def _call_id(sent: str | int | None) -> str:
    return f"call_{uuid4().hex}" if sent is None else str(sent)


_Read = tuple[str, "dict[str, Any] | str | None", "str | int | None"]
_READERS: Mapping[DialectName, Callable[[Any], _Read]] = {
    "langchain": lambda sent: (sent.name, sent.args, sent.id),
    "openai": lambda sent: (sent.function.name, sent.function.arguments, sent.id),
    "openai-responses": lambda sent: (sent.name, sent.arguments, sent.call_id),
    "anthropic": lambda sent: (sent.name, sent.input, sent.id),
    "gemini": lambda sent: (sent.function_call.name, sent.function_call.args, sent.function_call.id),
}


def write_answer(message: ToolMessage, dialect: WrittenForm) -> BaseModel | dict[str, Any]:
    """Write a ToolMessage in a dialect."""
    return _WRITERS[dialect](message)


_WRITERS: Mapping[WrittenForm, Callable[[ToolMessage], BaseModel | dict[str, Any]]] = {
    "langchain": write_langchain,
    "openai": write_openai,
    "openai-responses": write_responses,
    "tool-search": write_found_tools,
    "anthropic": write_anthropic,
    "gemini": write_gemini,
}
