"""Parse a call as most programs send it, in the form of any provider, and answer in the same.

Each form has one validator that reads it from JSON text in one step, and takes nothing but what the form usually has.
All else is left to the dialects, which know how to explain what is wrong.
"""

import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Annotated, Any, Literal

from msgspec import DecodeError, Meta, Raw, Struct, convert
from msgspec.json import Decoder
from pydantic import BaseModel

from sidecall.http.body import parse_body
from sidecall.kernel.core.messages import ToolMessage, make_call
from sidecall.kernel.core.native_results import PART, UNNAMED
from sidecall.kernel.core.options import NAMES
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.text import LARGE, NEVER_DEEP, is_flat
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import later
from sidecall.rest.dialect_writers import WRITERS
from sidecall.rest.native_calls.writing import write_item
from sidecall.rest.parsed_call import DialectName, ReceivedCall, choose_call_id

_Object = dict[str, Any]
# With which the models of all forms come.
_read_call: Callable[[Any, Registry], ReceivedCall] = later("sidecall.rest.dialect_readers:read_call")


class _Call(Struct, kw_only=True, forbid_unknown_fields=True):
    """What may stand in a call of each form."""

    state: Any = None
    context: _Object | None = None
    hash: Annotated[str, Meta(max_length=128)] | None = None


class _LangChainCall(_Call):
    name: str
    args: _Object
    id: str | None = None
    type: Literal["tool_call"] = "tool_call"


class _Function(Struct, forbid_unknown_fields=True):
    name: str
    arguments: str | _Object


class _OpenAICall(_Call):
    function: _Function
    id: str | None = None
    type: Literal["function"] = "function"
    index: int = 0


class _ResponsesCall(_Call):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str | _Object
    id: str | None = None
    status: Literal["completed"] | None = None
    namespace: None = None
    caller: None = None


class _AnthropicCall(_Call):
    type: Literal["tool_use"]
    name: str
    input: _Object
    id: str | None = None
    caller: Any = None
    cache_control: Any = None


class _GeminiFunction(Struct, forbid_unknown_fields=True):
    name: str
    args: _Object
    id: str | None = None


class _GeminiCall(_Call, rename={"function": "functionCall", "signature": "thoughtSignature"}):
    function: _GeminiFunction
    signature: str = ""


def _is_no_builtin(name: str, _tool: CompiledTool | None) -> bool:
    """Return whether a name is not one that Anthropic's models have for a tool of another name."""
    return name not in _BUILTIN_NAMES


def _has_no_acknowledgement(_name: str, tool: CompiledTool | None) -> bool:
    """Return whether a tool works at no computer, for which Gemini wants more in the answer."""
    return tool is None or not tool.options.native


_BUILTIN_NAMES = frozenset(NAMES.values())


class _Form(Struct, frozen=True):
    """How calls of a dialect are usually written: how to read them, their kind, and what is in them.

    `take` returns the name of a call, its arguments and its id. `is_usual` says of a name and its tool whether the call
    means just that, where not all do. `unnamed` is what the answer to a call without an id repeats.
    """

    dialect: DialectName
    read: Callable[[bytes], Any]
    kind: type[_Call]
    take: Callable[[Any], tuple[str, _Object | str, str | None]]
    is_usual: Callable[[str, CompiledTool | None], bool] | None = None
    unnamed: _Object | None = None


def _make_form(
    dialect: DialectName,
    kind: type[_Call],
    places: str,
    is_usual: Callable[[str, CompiledTool | None], bool] | None = None,
    unnamed: _Object | None = None,
) -> _Form:
    return _Form(dialect, Decoder(kind).decode, kind, attrgetter(*places.split()), is_usual, unnamed)


# By the key that only this form has.
_FORMS: Mapping[bytes, _Form] = {
    b"args": _make_form("langchain", _LangChainCall, "name args id"),
    b"function": _make_form("openai", _OpenAICall, "function.name function.arguments id"),
    b"arguments": _make_form("openai-responses", _ResponsesCall, "name arguments call_id"),
    b"input": _make_form("anthropic", _AnthropicCall, "name input id", _is_no_builtin),
    b"functionCall": _make_form(
        *("gemini", _GeminiCall, "function.name function.args function.id"),
        *(_has_no_acknowledgement, {"type": PART, UNNAMED: True}),
    ),
}
_FORMS_BY_KEY: Mapping[str, _Form] = {key.decode(): form for key, form in _FORMS.items()}
# The first of these keys tells the form; where it stands in something else, the dialects find out.
_find_key = re.compile(rb'"(args|function|arguments|input|functionCall)"\s*:').search
_split = Decoder(list[Raw]).decode


def read_plain_call(body: bytes, registry: Registry) -> ReceivedCall | None:
    """Parse JSON text in the usual form of a dialect; None for others and for invalid ones."""
    # Large bodies are read sooner otherwise, without the garbage collector, and deep ones are refused.
    if len(body) > NEVER_DEEP and not is_flat(body):
        return None
    key = _find_key(body)
    if key is None:
        return None
    form = _FORMS[key[1]]
    try:
        said = form.read(body)
    except (DecodeError, UnicodeDecodeError):
        return None
    return _join(form, said, registry)


def read_plain_calls(body: bytes, most: int, registry: Registry) -> list[ReceivedCall] | None:
    """Do the same with an array of at most so many; None where one of them has another form."""
    if len(body) > LARGE or not body.startswith(b"["):
        return None
    try:
        items = _split(body)
    except (DecodeError, RecursionError):
        return None
    if len(items) > most:
        return None
    calls: list[ReceivedCall] = []
    for item in items:
        sent = read_plain_call(bytes(item), registry)
        if sent is None:
            return None
        calls.append(sent)
    return calls


def read_plain_item(item: Any, registry: Registry) -> ReceivedCall | None:
    """Do the same with an element of a batch, which is parsed."""
    if type(item) is not dict:
        return None
    form = next((form for key, form in _FORMS_BY_KEY.items() if key in item), None)
    if form is None:
        return None
    try:
        return _join(form, convert(item, form.kind), registry)
    except DecodeError:
        return None


def _join(form: _Form, said: Any, registry: Registry) -> ReceivedCall | None:
    name, args, call_id = form.take(said)
    if form.is_usual is not None and not form.is_usual(name, registry.get(name)):
        return None
    if call_id is None:
        call = make_call(name, args, choose_call_id(None), form.unnamed and {**form.unnamed})
    else:
        call = make_call(name, args, call_id)
    return ReceivedCall(call, form.dialect, said.state, said.context or {}, hash=said.hash)


def read_other_call(body: bytes, registry: Registry) -> ReceivedCall:
    """Parse JSON text as one call in an unusual form.

    Raises:
        MalformedJSON: It is not JSON.
        NotAToolCall: It is no call.
    """
    return _read_call(parse_body(body), registry)


def write_answer(message: ToolMessage, dialect: DialectName) -> BaseModel | dict[str, Any]:
    """Write a ToolMessage in a dialect; in the form of the call's own item if that belongs to the dialect."""
    return write_item(message, dialect) if message.additional_kwargs else WRITERS[dialect](message)
