"""The messages of a conversation, as tools find them in the caller's state and send them back."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, Required

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_wrap_validator_function
from typing_extensions import TypedDict

from sidecall.core.messages import ReadableMessage, ToolMessage

# As the id of a RemoveMessage: all messages so far.
REMOVE_ALL_MESSAGES = "__remove_all__"


class BaseMessage(ReadableMessage, BaseModel, defer_build=True):
    """A message with LangChain's keys; those of a provider are kept."""

    model_config = ConfigDict(extra="allow")

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

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Make of what is any message the one that its `type` names, as LangChain's graphs hand them over."""
        schema = handler(source)
        return no_info_wrap_validator_function(_read_any, schema) if cls is BaseMessage else schema


class HumanMessage(BaseMessage):
    """What a person said."""

    type: Literal["human"] = "human"


def _name_type(call: dict[str, Any]) -> dict[str, Any]:
    """Mark a call as one, so that it can be handed to a tool as it stands in the message."""
    return {**call, "type": call.get("type") or "tool_call"}


def _write_call(call: Mapping[str, Any]) -> list[str]:
    args, error = call.get("args"), call.get("error")
    written = [f"    {name}: {it}" for name, it in args.items()] if isinstance(args, dict) else [f"    {args}"]
    failed = [f"  Error: {error}"] if error else []
    return [f"  {call.get('name')} ({call.get('id')})", f" Call ID: {call.get('id')}", *failed, "  Args:", *written]


class AIMessage(BaseMessage):
    """What a model said, and the tools that it asked for."""

    type: Literal["ai"] = "ai"
    tool_calls: list[Annotated[dict[str, Any], AfterValidator(_name_type)]] = Field(default_factory=list)
    invalid_tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    usage_metadata: dict[str, Any] | None = None

    @property
    def content_blocks(self) -> list[Any]:
        """The content as blocks, and the calls."""
        return [*super().content_blocks, *self.tool_calls]

    def pretty_repr(self, html: bool = False) -> str:
        """Write the message with its calls."""
        said = super().pretty_repr(html)
        calls = [line for call in (*self.tool_calls, *self.invalid_tool_calls) for line in _write_call(call)]
        return "\n".join([said.strip(), "Tool Calls:", *calls]) if calls else said


class SystemMessage(BaseMessage):
    """What a model was told beforehand."""

    type: Literal["system"] = "system"


class RemoveMessage(BaseMessage):
    """Ask the caller to take the message of this id out of its state."""

    type: Literal["remove"] = "remove"

    def __init__(self, id: str = "", **fields: Any) -> None:
        super().__init__(id=id, **fields)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


AnyMessage = Annotated[
    HumanMessage | AIMessage | SystemMessage | ToolMessage | RemoveMessage, Field(discriminator="type")
]
_message: TypeAdapter[Any] = TypeAdapter(AnyMessage, config=ConfigDict(defer_build=True))
_ROLES: Mapping[str, str] = {
    "user": "human",
    "assistant": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}


class MessagesState(TypedDict):
    """The state of a graph that holds a conversation; to be derived from."""

    messages: list[AnyMessage]


class AgentState(TypedDict):
    """The state of LangChain's agents; to be derived from."""

    messages: Required[list[AnyMessage]]
    jump_to: NotRequired[str | None]
    structured_response: NotRequired[Any]


def _read_any(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    made = _revive(value)
    return validate(value) if made is value else made


def revive_messages(messages: Any) -> Any:
    """Make messages of the objects as which they came; what is none stays as it is."""
    return [_revive(message) for message in messages] if isinstance(messages, list) else messages


def _revive(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    kind = message.get("type") or _ROLES.get(str(message.get("role")))
    try:
        return _message.validate_python({**message, "type": kind, **(_read_openai(message) if kind == "ai" else {})})
    except ValidationError:
        return message


def _read_openai(message: Mapping[str, Any]) -> dict[str, Any]:
    """Read what OpenAI writes otherwise: no content is null there, and the arguments of a call are a text."""
    calls = message.get("tool_calls")
    read: dict[str, Any] = {"content": ""} if message.get("content", "") is None else {}
    if calls is None:
        return read | ({"tool_calls": []} if "tool_calls" in message else {})
    if not (isinstance(calls, list) and any(isinstance(it, dict) and "function" in it for it in calls)):
        return read
    made = [_read_call(it) for it in calls]
    kinds = {"tool_calls": "tool_call", "invalid_tool_calls": "invalid_tool_call"}
    return read | {key: [it for it in made if it.get("type") == kind] for key, kind in kinds.items()}


def _read_call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    named, sent = {"name": function.get("name"), "id": call.get("id")}, function.get("arguments")
    try:
        args = json.loads(sent or "{}") if isinstance(sent, str | None) else sent
    except ValueError as error:
        return {**named, "args": sent, "error": str(error), "type": "invalid_tool_call"}
    return {**named, "args": args, "type": "tool_call"}
