"""Keep the JSON value of an answer with its content, for programs that read results as values."""

from typing import Any

from pydantic_core import from_json, to_json

from sidecall.kernel.core.messages import ToolMessage

# Past the model's own way, which looks far for what it may set.
_set = object.__setattr__
# Of an answer with which no value is kept.
ABSENT: Any = object()
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
    return getattr(message, "_value", ABSENT)


def say_not_kept(name: str) -> str:
    """Return the note that an answer's value was dropped although its tool has an output schema."""
    return f"the answer of {name} is too large to be kept whole."


def copy_message(message: ToolMessage) -> ToolMessage:
    """Copy an answer, with the value kept with it."""
    copied = message.model_copy()
    keep_value(copied, find_value(message))
    return copied


def write_stored(message: ToolMessage) -> bytes:
    """Serialize an answer for storage, with its value."""
    text = message.__pydantic_serializer__.to_json(message)
    value = find_value(message)
    return text if value is ABSENT else b'%s,"%s":%s}' % (text[:-1], _VALUE.encode(), to_json(value))


def read_stored(stored: dict[str, Any]) -> ToolMessage:
    """Read a stored answer from its parsed JSON."""
    message = ToolMessage.model_validate(stored)
    keep_value(message, find_stored_value(stored))
    return message


def find_stored_value(stored: dict[str, Any]) -> Any:
    """Return the value in a stored answer; ABSENT if there is none."""
    return stored.get(_VALUE, ABSENT)
