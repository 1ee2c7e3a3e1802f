"""Messages of a conversation, as tools get them in the caller's state and return them."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NotRequired, Required

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_wrap_validator_function
from typing_extensions import TypedDict

from sidecall.kernel.core.message_views import list_blocks, write_calls
from sidecall.kernel.core.messages import ReadableMessage, ToolMessage
from sidecall.kernel.json_data.to_json import to_text

# As the id of a RemoveMessage: all messages so far.
REMOVE_ALL_MESSAGES = "__remove_all__"


class BaseMessage(ReadableMessage, BaseModel, defer_build=True):
    """A message with LangChain's keys; extra keys of providers are kept."""

    model_config = ConfigDict(extra="allow")
    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.base", "BaseMessage"),)

    content: str | list[str | dict[str, Any]] = ""
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    response_metadata: dict[str, Any] = Field(default_factory=dict)
    type: str
    name: str | None = None
    id: str | None = None

    def __init__(self, content: Any = "", **fields: Any) -> None:
        super().__init__(content=content, **fields)

    # Validation makes messages past it, as if it were pydantic's own.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @model_validator(mode="before")
    @classmethod
    def _read_forms(cls, value: Any) -> Any:
        return read_fields(value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validate a message as the class that its `type` names, as LangChain's graphs pass them."""
        schema = handler(source)
        return no_info_wrap_validator_function(_read_any, schema) if cls is BaseMessage else schema


class HumanMessage(BaseMessage):
    """A message of a person."""

    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.human", "HumanMessage"),)
    type: Literal["human"] = "human"


def _name_type(call: dict[str, Any]) -> dict[str, Any]:
    """Add the type of a call, so that it can be passed on from the message."""
    return {**call, "type": call.get("type") or "tool_call"}


class AIMessage(BaseMessage):
    """A message of a model, with its tool calls."""

    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.ai", "AIMessage"),)
    type: Literal["ai"] = "ai"
    tool_calls: list[Annotated[dict[str, Any], AfterValidator(_name_type)]] = Field(default_factory=list)
    invalid_tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    usage_metadata: dict[str, Any] | None = None

    @property
    def content_blocks(self) -> list[Any]:
        """The content as typed blocks, with the tool calls."""
        return list_blocks(self.content, self.tool_calls)

    def pretty_repr(self, html: bool = False) -> str:
        """Format the message for people, with its tool calls."""
        calls = write_calls("Tool Calls:", self.tool_calls)
        lines = [*calls, *write_calls("Invalid Tool Calls:", self.invalid_tool_calls)]
        return "\n".join([super().pretty_repr(html).strip(), *lines]).strip()


class SystemMessage(BaseMessage):
    """A system message."""

    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.system", "SystemMessage"),)
    type: Literal["system"] = "system"


class RemoveMessage(BaseMessage):
    """Asks the caller to remove the message with this id from its state."""

    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.modifier", "RemoveMessage"),)
    type: Literal["remove"] = "remove"

    def __init__(self, id: str = "", **fields: Any) -> None:
        super().__init__(id=id, **fields)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


AnyMessage = Annotated[
    HumanMessage | AIMessage | SystemMessage | ToolMessage | RemoveMessage,
    Field(discriminator="type"),
    BeforeValidator(lambda value: _read_alike(value)),
]

_message: TypeAdapter[Any] = TypeAdapter(AnyMessage, config=ConfigDict(defer_build=True))


class MessagesState(TypedDict):
    """A graph's state with a conversation; a base class."""

    messages: list[AnyMessage]


class AgentState(TypedDict):
    """The state of LangChain's agents; a base class."""

    messages: Required[list[AnyMessage]]
    jump_to: NotRequired[str | None]
    structured_response: NotRequired[Any]


def _read_any(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return _message.validate_python(value)
    except ValidationError:
        return validate(value)


def _read_alike(value: Any) -> Any:
    """Read a value as a message: a text is a person's."""
    return read_fields({"type": "human", "content": value} if isinstance(value, str) else value)


def revive_messages(messages: Any) -> Any:
    """Convert objects and pairs to messages; other values are unchanged."""
    return [_revive(message) for message in messages] if isinstance(messages, list) else messages


def _revive(message: Any) -> Any:
    if not is_message_like(message):
        return message
    try:
        return _message.validate_python(message)
    except ValidationError:
        return message


# By roles and types.
_KINDS: Mapping[str, str] = {
    "human": "human",
    "user": "human",
    "ai": "ai",
    "assistant": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "remove": "remove",
}
# By the names of LangChain's classes; the parts of a stream have a type of that name, too.
_CLASSES: Mapping[str, str] = {
    f"{name}Message{part}": kind
    for name, kind in (("Human", "human"), ("AI", "ai"), ("System", "system"), ("Tool", "tool"), ("Remove", "remove"))
    for part in ("", "Chunk")
}

_FIELDS = frozenset(
    "role type content name id tool_call_id tool_calls invalid_tool_calls usage_metadata additional_kwargs"
    " response_metadata artifact status".split()
)


def read_fields(message: Any) -> Any:
    """Read the fields of a message; a value in no known form is returned unchanged.

    The forms are LangChain's JSON; role and content as in OpenAI's API, also as a pair; and LangChain's serializations
    `{"lc": 1, ...}` and `{"type": ..., "data": ...}`.
    """
    if _is_pair(message):
        return read_fields({"type": message[0], "content": message[1]})
    if not isinstance(message, dict):
        return message
    message = _open(message)
    named = message.get("role", message.get("type"))
    kind = (_KINDS.get(named) or _CLASSES.get(named)) if isinstance(named, str) else None
    if kind is None:
        return message
    fields = {**message, "type": kind, **_read_content(kind, message), **_read_additions(message)}
    for name in ("id", "tool_call_id"):
        if isinstance(fields.get(name), int | float):
            fields[name] = str(fields[name])
    return {**fields, **_read_calls(fields)} if kind == "ai" else fields


def is_message_like(message: Any) -> bool:
    """Return whether this may be a message: an object, or a pair of role and content."""
    return isinstance(message, dict) or _is_pair(message)


def _is_pair(message: Any) -> bool:
    return (
        isinstance(message, list | tuple)
        and len(message) == 2
        and isinstance(message[0], str)
        and message[0] in _KINDS
        and isinstance(message[1], str | list)
    )


def _open(message: dict[str, Any]) -> dict[str, Any]:
    """Unwrap a message from LangChain's serialization."""
    if message.get("lc") == 1 and isinstance(message.get("kwargs"), dict) and message.get("type") == "constructor":
        place = message.get("id")
        name = place[-1] if isinstance(place, list) and place else None
        return {**message["kwargs"], "type": _CLASSES.get(name) if isinstance(name, str) else None}
    if isinstance(message.get("data"), dict) and "content" not in message:
        return {**message["data"], "type": message.get("type")}
    return message


def _read_content(kind: str, message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content", "")
    if content is None:
        return {"content": ""}
    return {"content": to_text(content)} if kind == "tool" and not isinstance(content, str | list) else {}


def _read_additions(message: Mapping[str, Any]) -> dict[str, Any]:
    """Collect a provider's extra keys, which LangChain keeps in `additional_kwargs`."""
    more = {name: value for name, value in message.items() if name not in _FIELDS} if "role" in message else {}
    if "developer" in (message.get("role"), message.get("type")):
        more["__openai_role__"] = "developer"
    if not more:
        return {}
    given = message.get("additional_kwargs")
    return {"additional_kwargs": {**more, **given} if isinstance(given, dict) else more}


def _read_calls(message: Mapping[str, Any]) -> dict[str, Any]:
    """Read a model's tool calls; OpenAI's have their arguments as text."""
    kept = message.get("additional_kwargs")
    calls = message.get("tool_calls") or (kept.get("tool_calls") if isinstance(kept, dict) else None)
    if not isinstance(calls, list) or not calls:
        return {"tool_calls": []} if "tool_calls" in message and not calls else {}
    made = [_read_call(it) for it in calls]
    right, wrong = ([it for it in made if _is_invalid(it) is is_wrong] for is_wrong in (False, True))
    return {"tool_calls": right, **({"invalid_tool_calls": wrong} if wrong else {})}


def _is_invalid(call: Any) -> bool:
    return isinstance(call, dict) and call.get("type") == "invalid_tool_call"


def _read_call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return {**call, "type": "tool_call"} if isinstance(call, dict) else call
    named, sent = {"name": function.get("name"), "id": call.get("id")}, function.get("arguments")
    try:
        args = json.loads(sent or "{}", strict=False) if isinstance(sent, str | None) else sent
    except ValueError as error:
        return {**named, "args": sent, "error": str(error), "type": "invalid_tool_call"}
    return {**named, "args": args, "type": "tool_call"}
