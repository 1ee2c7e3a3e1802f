"""The messages of a conversation, as tools find them in the caller's state and send them back."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, Required

from pydantic import (
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

from sidecall.core.messages import ToolMessage

# As the id of a RemoveMessage: all messages so far.
REMOVE_ALL_MESSAGES = "__remove_all__"


class BaseMessage(BaseModel, defer_build=True):
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

    def __getitem__(self, key: str) -> Any:
        """Read a field as of the JSON that came, for tools that take the state as such."""
        try:
            return getattr(self, key) if key in type(self).model_fields else (self.model_extra or {})[key]
        except AttributeError:
            raise KeyError(key) from None

    def get(self, key: str, default: Any = None) -> Any:
        """Read a field as of a dict."""
        try:
            return self[key]
        except KeyError:
            return default

    @property
    def text(self) -> str:
        """The texts of the content, joined."""
        if isinstance(self.content, str):
            return self.content
        parts = (part if isinstance(part, str) else part.get("text", "") for part in self.content)
        return "".join(parts)


class HumanMessage(BaseMessage):
    """What a person said."""

    type: Literal["human"] = "human"


class AIMessage(BaseMessage):
    """What a model said, and the tools that it asked for."""

    type: Literal["ai"] = "ai"
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    invalid_tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    usage_metadata: dict[str, Any] | None = None


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
        return _message.validate_python({**message, "type": kind})
    except ValidationError:
        return message
