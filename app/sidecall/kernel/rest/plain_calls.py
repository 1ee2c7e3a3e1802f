"""Parse a call as most programs send it, in the form of any provider, and answer in the same.

Each form has one validator that reads it from JSON text in one step, and takes nothing but what the form usually has.
All else is left to the dialects, which know how to explain what is wrong.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from sidecall.kernel.core.messages import ToolCall, ToolMessage, make_unchecked
from sidecall.kernel.core.native_items import PART, UNNAMED
from sidecall.kernel.core.options import NAMES
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.http.body import LARGE, parse_body
from sidecall.kernel.json_data.text import NESTED, is_finite
from sidecall.kernel.registry import Registry
from sidecall.kernel.rest.received import DialectName, ReceivedCall, choose_call_id
from sidecall.kernel.rest.writing import WRITERS
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.kernel.rest import dialects as _dialects
else:
    _dialects = Later("sidecall.kernel.rest.dialects")

_Object = dict[str, Any]
_EXACT = ConfigDict(extra="forbid", defer_build=True)


class _Call(TypedDict):
    state: NotRequired[Any]
    context: NotRequired[_Object | None]
    hash: NotRequired[Annotated[str, Field(max_length=128)] | None]


# Most calls come with none of these, of which all but the last two mean something.
_BESIDE = frozenset((*_Call.__annotations__, "caller", "cache_control"))


@with_config(_EXACT)
class _LangChainCall(_Call):
    name: str
    args: _Object
    id: NotRequired[str | None]
    type: NotRequired[Literal["tool_call"]]


@with_config(_EXACT)
class _Function(TypedDict):
    name: str
    arguments: str | _Object


@with_config(_EXACT)
class _OpenAICall(_Call):
    id: NotRequired[str | None]
    type: NotRequired[Literal["function"]]
    function: _Function
    index: NotRequired[int]


@with_config(_EXACT)
class _ResponsesCall(_Call):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str | _Object
    id: NotRequired[str | None]
    status: NotRequired[Literal["completed"] | None]
    namespace: NotRequired[None]
    caller: NotRequired[None]


@with_config(_EXACT)
class _AnthropicCall(_Call):
    type: Literal["tool_use"]
    id: NotRequired[str | None]
    name: str
    input: _Object
    caller: NotRequired[Any]
    cache_control: NotRequired[Any]


@with_config(_EXACT)
class _GeminiFunction(TypedDict):
    name: str
    args: _Object
    id: NotRequired[str | None]


@with_config(_EXACT)
class _GeminiCall(_Call):
    functionCall: _GeminiFunction
    thoughtSignature: NotRequired[str]


# The name of a call, its arguments, its id, and what its answer repeats.
_Taken = tuple[str, _Object | str, str | None, _Object | None]


def _take_langchain(said: _LangChainCall) -> _Taken:
    return said["name"], said["args"], said.get("id"), None


def _take_openai(said: _OpenAICall) -> _Taken:
    function = said["function"]
    return function["name"], function["arguments"], said.get("id"), None


def _take_responses(said: _ResponsesCall) -> _Taken:
    return said["name"], said["arguments"], said["call_id"], None


def _take_anthropic(said: _AnthropicCall) -> _Taken:
    return said["name"], said["input"], said.get("id"), None


def _take_gemini(said: _GeminiCall) -> _Taken:
    function = said["functionCall"]
    call_id = function.get("id")
    return function["name"], function["args"], call_id, {"type": PART, UNNAMED: True} if call_id is None else None


def _is_no_builtin(name: str, _tool: CompiledTool | None) -> bool:
    """Return whether a name is not one that Anthropic's models have for a tool of another name."""
    return name not in _BUILTIN_NAMES


def _has_no_acknowledgement(_name: str, tool: CompiledTool | None) -> bool:
    """Return whether a tool works at no computer, for which Gemini wants more in the answer."""
    return tool is None or not tool.options.native


_BUILTIN_NAMES = frozenset(NAMES.values())


@dataclass(frozen=True, slots=True)
class _Form:
    """How calls of a dialect are usually written: how to read them, or check what was read, and what is in them.

    `is_usual` says of a name and its tool whether the call means just that, where not all do.
    """

    dialect: DialectName
    read: Callable[[bytes], Any]
    check: Callable[[Any], Any]
    take: Callable[[Any], _Taken]
    is_usual: Callable[[str, CompiledTool | None], bool] | None = None


def _make_form(
    dialect: DialectName,
    kind: Any,
    take: Callable[[Any], _Taken],
    is_usual: Callable[[str, CompiledTool | None], bool] | None = None,
) -> _Form:
    validator = TypeAdapter(kind).validator
    return _Form(dialect, validator.validate_json, validator.validate_python, take, is_usual)


# By the key that only this form has.
_FORMS: Mapping[bytes, _Form] = {
    b"args": _make_form("langchain", _LangChainCall, _take_langchain),
    b"function": _make_form("openai", _OpenAICall, _take_openai),
    b"arguments": _make_form("openai-responses", _ResponsesCall, _take_responses),
    b"input": _make_form("anthropic", _AnthropicCall, _take_anthropic, _is_no_builtin),
    b"functionCall": _make_form("gemini", _GeminiCall, _take_gemini, _has_no_acknowledgement),
}
_FORMS_BY_KEY: Mapping[str, _Form] = {key.decode(): form for key, form in _FORMS.items()}
# The first of these keys tells the form; where it stands in something else, the dialects find out.
_find_key = re.compile(rb'"(args|function|arguments|input|functionCall)"\s*:').search
# With what words begin that pydantic takes for numbers; where they stand in a text, the dialects find out. As numbers,
# since to look for one in bytes takes a tenth of the time.
_N, _I = b"NI"


def read_plain_call(body: bytes, registry: Registry) -> ReceivedCall | None:
    """Parse JSON text in the usual form of a dialect; None for others and for invalid ones."""
    # Large bodies are read sooner otherwise, since pydantic makes a tree of its own before it makes ours.
    if len(body) > LARGE or ((_N in body or _I in body) and (b"NaN" in body or b"Infinity" in body)):
        return None
    key = _find_key(body)
    if key is None:
        return None
    form = _FORMS[key[1]]
    try:
        said = form.read(body)
    except ValidationError:
        return None
    return _join(form, said, registry)


def read_plain_item(item: Any, registry: Registry) -> ReceivedCall | None:
    """Do the same with an element of a batch, which is parsed."""
    if type(item) is not dict:
        return None
    form = next((form for key, form in _FORMS_BY_KEY.items() if key in item), None)
    if form is None:
        return None
    try:
        return _join(form, form.check(item), registry, is_checked=True)
    except ValidationError:
        return None


def _join(form: _Form, said: Any, registry: Registry, *, is_checked: bool = False) -> ReceivedCall | None:
    name, args, call_id, item = form.take(said)
    if form.is_usual is not None and not form.is_usual(name, registry.get(name)):
        return None
    # pydantic takes numbers that round to infinity.
    if type(args) is dict and not is_checked:
        for value in args.values():
            if type(value) in NESTED and not is_finite(value):
                return None
    call_id = choose_call_id(None) if call_id is None else call_id
    call = make_unchecked(ToolCall, {"name": name, "args": args, "id": call_id, "type": "tool_call", "item": item})
    if _BESIDE.isdisjoint(said):
        return ReceivedCall(call, form.dialect, None, {})
    if not is_checked and not is_finite(said):
        return None
    return ReceivedCall(call, form.dialect, said.get("state"), said.get("context") or {}, hash=said.get("hash"))


def read_other_call(body: bytes, registry: Registry) -> ReceivedCall:
    """Parse JSON text as one call in an unusual form.

    Raises:
        MalformedJSON: It is not JSON.
        NotAToolCall: It is no call.
    """
    return _dialects.read_call(parse_body(body), registry)


def write_answer(message: ToolMessage, dialect: DialectName) -> BaseModel | dict[str, Any]:
    """Write a ToolMessage in a dialect; in the form of the call's own item if that belongs to the dialect."""
    return _dialects.write_answer(message, dialect) if message.additional_kwargs else WRITERS[dialect](message)
