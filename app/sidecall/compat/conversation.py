"""Messages of a conversation, as tools get them in the caller's state and return them."""

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

from sidecall.compat.message_forms import is_message_like, read_fields
from sidecall.kernel.core.message_views import list_blocks, write_calls
from sidecall.kernel.core.messages import ReadableMessage, ToolMessage

# As the id of a RemoveMessage: all messages so far.
REMOVE_ALL_MESSAGES = "__remove_all__"


class BaseMessage(ReadableMessage, BaseModel, defer_build=True):
    """A message with LangChain's keys; extra keys of providers are kept."""

    model_config = ConfigDict(extra="allow")
    _counterparts: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.base", "BaseMessage"),)

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

    _counterparts: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.human", "HumanMessage"),)
    type: Literal["human"] = "human"


def _name_type(call: dict[str, Any]) -> dict[str, Any]:
    """Add the type of a call, so that it can be passed on from the message."""
    return {**call, "type": call.get("type") or "tool_call"}


class AIMessage(BaseMessage):
    """A message of a model, with its tool calls."""

    _counterparts: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.ai", "AIMessage"),)
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

    _counterparts: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.system", "SystemMessage"),)
    type: Literal["system"] = "system"


class RemoveMessage(BaseMessage):
    """Asks the caller to remove the message with this id from its state."""

    _counterparts: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.modifier", "RemoveMessage"),)
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
