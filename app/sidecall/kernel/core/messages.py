"""ToolCall in, ToolMessage out, with LangChain's keys."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from operator import is_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json, to_json

from sidecall.kernel.core.message_views import MessageText, find_text, list_blocks, write_title
from sidecall.kernel.core.virtual_subclasses import VirtualSubclass, find_from_virtual_base
from sidecall.kernel.json_data.large_values import WrittenJson
from sidecall.kernel.json_data.text import read_object
from sidecall.kernel.json_data.to_json import dump_plain, no_json_form, to_text, write_in_pieces

M = TypeVar("M", bound=BaseModel)

ContentBlock = dict[str, Any]

Content = str | list[str | ContentBlock]

Status = Literal["success", "error"]

# The types of blocks that LangChain's ToolMessage passes on, and those of OpenAI's Responses API.
_BLOCK_TYPES = frozenset(
    "text image_url image json search_result custom_tool_call_output document file"
    " input_text input_image input_file".split()
)


class ObjectList(list[Any]):
    """A list of plain values that only looks like content blocks.

    A list of models becomes one when its models are serialized in another process.
    """


class BlockList(list[Any]):
    """A list of content blocks, also of types that LangChain's tools do not return, such as sounds and videos."""


def are_blocks(value: Any) -> bool:
    """Return whether a value is a non-empty list of texts and blocks, which answers pass on unchanged."""
    if type(value) is BlockList:
        return True
    if not isinstance(value, (list, tuple)) or not value or type(value) is ObjectList:
        return False
    return all(_is_block(item) for item in value)


def _is_block(item: Any) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(item, str) or (isinstance(kind, str) and kind in _BLOCK_TYPES)


class ToolCall(BaseModel, defer_build=True):
    """One request of a model to run a tool.

    `args` is a JSON object, or its JSON text, as OpenAI's models write it, which the pipeline's first stage decodes.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    args: Annotated[dict[str, Any] | str, BeforeValidator(read_object)]
    id: str
    type: Literal["tool_call"] = "tool_call"
    # What the answer repeats of a provider's own item; its `type` says which it is.
    item: SkipJsonSchema[dict[str, Any] | None] = Field(default=None, exclude_if=partial(is_, None))


class ReadableMessage(VirtualSubclass):
    """Properties of a conversation message besides its fields."""

    __slots__ = ()
    _is_value: ClassVar[bool] = True
    if TYPE_CHECKING:
        content: Any
        type: Any
        name: str | None
        model_extra: dict[str, Any] | None
    else:

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                with suppress(AttributeError):
                    return find_from_virtual_base(self, name)
                raise

    def __getitem__(self, key: str) -> Any:
        """Return a field, for tools that treat the state as JSON."""
        try:
            kind: Any = type(self)
            return getattr(self, key) if key in kind.model_fields else (self.model_extra or {})[key]
        except AttributeError:
            raise KeyError(key) from None

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field like `dict.get`."""
        try:
            return self[key]
        except KeyError:
            return default

    @property
    def text(self) -> MessageText:
        """The joined texts of the content."""
        return find_text(self.content)

    @property
    def content_blocks(self) -> list[Any]:
        """The content as typed blocks."""
        return list_blocks(self.content)

    def pretty_repr(self, html: bool = False) -> str:
        """Format the message for people; `html` makes the title bold, for terminals, as in LangChain."""
        name = "" if self.name is None else f"\nName: {self.name}"
        return f"{write_title(self.type, bold=html)}{name}\n\n{self.content}"

    def pretty_print(self) -> None:
        """Print the message for people."""
        print(self.pretty_repr())  # noqa: T201  it is what the name says


class ToolMessage(ReadableMessage, BaseModel, defer_build=True):
    """The answer to one ToolCall: exactly the nine keys of LangChain's ToolMessage.

    What is Sidecall's own stands in `response_metadata`: `duration_ms`, `return_direct`, `ignored_args`, `repaired`,
    and `error` (`kind`, `message`, `retryable`, `errors`, `nearest`, `retry_after_ms`) when `status` is `error`.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (("langchain_core.messages.tool", "ToolMessage"),)
    # Not sent, and free where it is not set; `kernel/core/messages.py` reads and sets it.
    __slots__ = ("_value",)

    content: Content = Field(description="What the model reads.")
    artifact: Any = Field(default=None, description="What the program keeps; never sent to the model.")
    tool_call_id: str = Field(default="", description="The id of the call this answers.")
    name: str | None = Field(default=None, description="The tool that was called.")
    status: Status = "success"
    type: Literal["tool"] = "tool"
    id: str | None = Field(default=None, description="The id of the invocation, a UUIDv7.")
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    response_metadata: dict[str, Any] = Field(default_factory=dict)

    def __init__(self, content: Any = None, content_blocks: Any = None, **fields: Any) -> None:
        """Make a message as in LangChain; content that is neither text nor a list of both becomes JSON.

        Raises:
            ToolOutputError: JSON cannot say the content.
        """
        said = _write_content(content if content_blocks is None else content_blocks)
        call_id = fields.get("tool_call_id", "")
        if not isinstance(call_id, str):
            fields["tool_call_id"] = "" if call_id is None else str(call_id)
        super().__init__(content=said, **fields)

    # Validation makes messages past it, as if it were pydantic's own.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def find_artifact(message: ToolMessage) -> Any:
    """Return an artifact as it is kept, which for a large one is as its bytes."""
    return message.__dict__["artifact"]


class _Artifact:
    """The artifact of a message; a large one is kept as its bytes until it is read."""

    def __get__(self, message: ToolMessage | None, kind: type) -> Any:
        if message is None:  # As of other fields, classes have none.
            raise AttributeError("artifact")
        held = message.__dict__["artifact"]
        if type(held) is WrittenJson:
            held = message.__dict__["artifact"] = held.value
        return held

    def __set__(self, message: ToolMessage, artifact: Any) -> None:
        message.__dict__["artifact"] = artifact


# Once pydantic has made its field of it.
type.__setattr__(ToolMessage, "artifact", _Artifact())


# Past the models' own ways: theirs to make one looks far for it, and theirs to set a field whether it may be set.
_new = object.__new__

_set_dict = BaseModel.__dict__["__dict__"].__set__

_set_fields_set = BaseModel.__dict__["__pydantic_fields_set__"].__set__

_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__

_set_private = BaseModel.__dict__["__pydantic_private__"].__set__


@cache
def _list_fields(kind: type[BaseModel]) -> set[str]:
    """Return the names of all fields, shared by all instances of a class."""
    return set(kind.model_fields)


def make_unchecked(kind: type[M], fields: dict[str, Any]) -> M:
    """Make a model from all its fields, in order, without validation.

    The result equals a validated one, in a third of the time. The model takes over the dictionary.
    """
    model = _new(kind)
    _set_dict(model, fields)
    _set_fields_set(model, _list_fields(kind))
    _set_extra(model, None)
    _set_private(model, None)
    return model


_OF_A_CALL = set(ToolCall.model_fields)


def make_call(name: str, args: dict[str, Any] | str, call_id: str, item: dict[str, Any] | None = None) -> ToolCall:
    """Make a call of checked fields, without checking them again."""
    call = _new(ToolCall)
    _set_dict(call, {"name": name, "args": args, "id": call_id, "type": "tool_call", "item": item})
    _set_fields_set(call, _OF_A_CALL)
    _set_extra(call, None)
    _set_private(call, None)
    return call


_SAID = ("content", "tool_call_id", "name", "id", "response_metadata")


def write_text_message(
    text: str, call_id: str, name: str, id: str, metadata: dict[str, Any], status: Status = "success"
) -> ToolMessage:
    """Make the message of a call that ended with a text.

    The result equals a validated one, in half the time; most answers are such messages.
    """
    message = _new(ToolMessage)
    fields = {
        "content": text,
        "artifact": None,
        "tool_call_id": call_id,
        "name": name,
        "status": status,
        "type": "tool",
        "id": id,
        "additional_kwargs": {},
        "response_metadata": metadata,
    }
    _set_dict(message, fields)
    _set_fields_set(message, {*_SAID} if status == "success" else {*_SAID, "status"})
    _set_extra(message, None)
    _set_private(message, None)
    return message


def _write_content(content: Any) -> Content:
    if isinstance(content, str) or (isinstance(content, list) and all(isinstance(it, str | dict) for it in content)):
        return content
    if are_blocks(content):
        return list(content)
    try:
        return to_text(content)
    except ValueError as error:
        raise no_json_form("ToolMessage", content) from error


# Past the model's own way, which looks far for what it may set.
_set = object.__setattr__
# Of an answer with which no value is kept.
ABSENT: Any = object()
# Past the model's own way again, which asks LangChain's message, too, for what is not there.
_get_value = ToolMessage.__dict__["_value"].__get__
# Under what a value stands in an answer that is stored; no answer that is sent has it.
_VALUE = "value"


class ValuedText(str):
    """A text content with its value."""

    value: Any

    def __new__(cls, text: str, value: Any) -> "ValuedText":
        """Make a text with its value."""
        made = super().__new__(cls, text)
        made.value = value
        return made


class ValuedBlocks(list[Any]):
    """A list of content blocks with its value."""

    def __init__(self, blocks: list[Any], value: Any) -> None:
        super().__init__(blocks)
        self.value = value


class JsonText(str):
    """The content of a large value, serialized already; the value fits its tool's schema."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value, parsed on each access."""
        return from_json(self)


def keep_value(message: ToolMessage, value: Any) -> None:
    """Attach a value to an answer, replacing the present one; ABSENT removes it."""
    _set(message, "_value", value)


def find_value(message: ToolMessage) -> Any:
    """Return the JSON value that is kept with an answer; ABSENT if there is none."""
    try:
        return _get_value(message)
    except AttributeError:
        return ABSENT


def say_not_kept(name: str) -> str:
    """Return the note that an answer's value was dropped although its tool has an output schema."""
    return f"the answer of {name} is too large to be kept whole."


def copy_message(message: ToolMessage) -> ToolMessage:
    """Copy an answer, with the value kept with it."""
    copied = message.model_copy()
    keep_value(copied, find_value(message))
    return copied


def write_message(message: ToolMessage) -> bytes:
    """Serialize an answer."""
    said = message.__dict__
    if type(said["content"]) is str and said["artifact"] is None and not said["additional_kwargs"]:
        return dump_plain(said)  # As of most answers, all values are plain.
    if type(said["artifact"]) is WrittenJson:
        return write_in_pieces(said)
    return message.__pydantic_serializer__.to_json(message)


def write_stored(message: ToolMessage) -> bytes:
    """Serialize an answer for storage, with its value."""
    value = find_value(message)
    text = write_message(message)
    return text if value is ABSENT else b'%s,"%s":%s}' % (text[:-1], _VALUE.encode(), to_json(value))


def read_stored(stored: dict[str, Any]) -> ToolMessage:
    """Read a stored answer from its parsed JSON."""
    message = ToolMessage.model_validate(stored)
    keep_value(message, find_stored_value(stored))
    return message


def find_stored_value(stored: dict[str, Any]) -> Any:
    """Return the value in a stored answer; ABSENT if there is none."""
    return stored.get(_VALUE, ABSENT)


IGNORED, WORKSPACE, RESULT = "ignored_note", "workspace_note", "result_note"
NOTES = (IGNORED, WORKSPACE, RESULT)


def find_note(message: ToolMessage) -> str | None:
    """Return the notes on dropped arguments, the workspace and the result; None if there are none."""
    if message.response_metadata.keys().isdisjoint(NOTES):
        return None
    notes = [note for name in NOTES if (note := message.response_metadata.get(name)) is not None]
    return "\n".join(notes) or None


# Where LangChain's blocks keep what they have no word for.
_EXTRAS = "extras"

_ORIGIN = "mcp"
# What any block of MCP may have.
_BESIDE = ("annotations", "_meta")


def name_origin(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key that marks a content block as made from this MCP block."""
    return {_EXTRAS: {_ORIGIN: dict(block)}}


def find_origin(block: str | ContentBlock) -> dict[str, Any] | None:
    """Return the link or embedded resource that a content block was made from, or None."""
    origin = _find(block)
    if origin is None:
        return None
    said = origin if origin.get("type") == "resource_link" else origin.get("resource")
    is_whole = isinstance(said, dict) and isinstance(said.get("uri"), str)
    return origin if is_whole and (said is not origin or isinstance(origin.get("name"), str)) else None


def find_beside(block: str | ContentBlock) -> dict[str, Any]:
    """Return the annotations and `_meta` of the MCP block that a content block was made from."""
    origin = _find(block) or {}
    return {key: origin[key] for key in _BESIDE if isinstance(origin.get(key), dict)}


def _find(block: str | ContentBlock) -> dict[str, Any] | None:
    extras = block.get(_EXTRAS) if isinstance(block, dict) else None
    origin = extras.get(_ORIGIN) if isinstance(extras, dict) else None
    return origin if isinstance(origin, dict) else None
