"""What the properties found, each in its smallest form."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import AliasPath, BaseModel, BeforeValidator, ByteSize, ConfigDict, Field, field_validator
from typing_extensions import TypedDict

from sidecall import BaseTool, InjectedToolArg, ToolMessage, tool
from tests.kit.calls import run


def _said(message: ToolMessage) -> tuple[str, Any]:
    return message.status, message.content


class Point(TypedDict):
    """Have one key."""

    x: int


@dataclass
class Spot:
    """Have one field."""

    x: int


@dataclass(slots=True)
class Slot:
    """Have one field and room for no other."""

    x: int


@tool
def takes_typed_dict(point: Point, **more: int) -> str:
    """Say what came."""
    return repr((point, more))


@tool
def takes_dataclass(point: Spot, **more: int) -> str:
    """Say what came."""
    return repr((vars(point), more))


@tool
def takes_slots(point: Slot, **more: int) -> str:
    """Say what came."""
    return repr((point.x, more))


@pytest.mark.parametrize(
    ("made", "content"),
    [
        pytest.param(takes_typed_dict, "({'x': 1}, {})", id="typed dict"),
        pytest.param(takes_dataclass, "({'x': 1}, {})", id="dataclass"),
        pytest.param(takes_slots, "(1, {})", id="dataclass with slots"),
    ],
)
async def test_free_keywords_do_not_open_the_types_of_other_parameters(made: BaseTool, content: str) -> None:
    """`**kwargs` takes further arguments, not further keys of what another parameter takes."""
    message = await run(made, {"point": {"x": 1, "y": 2}})

    assert _said(message) == ("success", content)


async def test_positional_only_parameters_go_with_free_keywords() -> None:
    """The free ones are not passed by position."""

    @tool
    def takes_both(first: int, /, **more: int) -> str:
        """Say what came."""
        return repr((first, more))

    message = await run(takes_both, {"first": 1, "second": 2})

    assert _said(message) == ("success", "(1, {'second': 2})")


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        pytest.param(dict[str, int], {"a": None, "b": 1}, id="value of a dict"),
        pytest.param(dict[str, dict[str, int]], {"a": {"b": None}}, id="value of a dict in a dict"),
        pytest.param(list[dict[str, int]], [{"a": None}], id="value of a dict in a list"),
    ],
)
async def test_null_among_free_keys_is_refused(annotation: Any, value: Any) -> None:
    """Only what has a default can be not given; an entry of a dict is not dropped for being null."""

    @tool
    def takes(value: annotation) -> str:
        """Say what came."""
        return repr(value)

    assert (await run(takes, {"value": value})).status == "error"


async def test_null_among_free_keywords_is_refused() -> None:
    """The same holds of `**kwargs`."""

    @tool
    def takes(**values: int) -> str:
        """Say what came."""
        return repr(values)

    assert (await run(takes, {"a": None, "b": 1})).status == "error"


class Question(BaseModel):
    """Have a validator that does not expect a number."""

    text: str

    @field_validator("text", mode="before")
    @classmethod
    def _strip(cls, value: Any) -> Any:
        return value.strip()


async def test_a_crashing_validator_is_answered() -> None:
    """Code of the author's that crashes on what the model sent fails this call, with a message."""

    @tool
    def ask(question: Question) -> str:
        """Ask."""
        return question.text

    message = await run(ask, {"question": {"text": 5}})

    assert message.response_metadata["error"]["kind"] == "execution_error"


async def test_a_crashing_validator_of_an_injected_value_is_answered() -> None:
    """It is the tool's own code as well."""

    @tool
    def greet(name: Annotated[str, BeforeValidator(str.strip), InjectedToolArg]) -> str:
        """Greet."""
        return name

    message = await run(greet, {}, context={"name": 5})

    assert message.response_metadata["error"]["kind"] == "execution_error"


async def test_the_items_of_an_iterable_are_checked_before_the_call() -> None:
    """The model is told which one is wrong; the function does not meet it."""

    @tool
    def add(numbers: Iterable[int]) -> int:
        """Add."""
        return sum(numbers)

    message = await run(add, {"numbers": [1, "x"]})

    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


async def test_text_is_read_as_json_has_it() -> None:
    """A text for `int | bytes` is the bytes, since JSON says its numbers without quotes."""

    @tool
    def show(value: int | bytes) -> str:
        """Say what came."""
        return repr(value)

    assert _said(await run(show, {"value": "12"})) == ("success", "b'12'")


class Open(BaseModel):
    """Take any further field."""

    model_config = ConfigDict(extra="allow")

    query: str


async def test_further_fields_of_an_open_model_do_not_crash_a_function_that_lacks_them() -> None:
    """What the function does not take is left out and reported."""

    @tool(args_schema=Open)
    def search(query: str) -> str:
        """Search."""
        return query

    message = await run(search, {"query": "a", "more": 1})

    assert _said(message) == ("success", "a")
    assert message.response_metadata["ignored_args"] == ["more"]


class Owned(BaseModel):
    """Read an injected field from inside another."""

    owner: Annotated[str, InjectedToolArg] = Field(validation_alias=AliasPath("about", 0))


async def test_an_injected_field_is_filled_whatever_path_it_is_read_from() -> None:
    """The caller's value is put where the model of the arguments looks for it."""

    @tool(args_schema=Owned)
    def owned(owner: str) -> str:
        """Say whose it is."""
        return owner

    assert _said(await run(owned, {}, context={"owner": "me"})) == ("success", "me")


async def test_a_wrong_unit_of_bytes_is_not_repeated() -> None:
    """It may be a piece of a secret."""

    @tool
    def reserve(size: ByteSize) -> int:
        """Reserve."""
        return size

    assert "s3cr3t" not in (await run(reserve, {"size": "12s3cr3t"})).content


async def test_a_number_as_a_key_does_not_crash_a_json_schema() -> None:
    """It is a key like any other."""

    @tool(
        args_schema={
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "array"}},
        }
    )
    def take(**values: Any) -> str:
        """Say what came."""
        return repr(values)

    assert (await run(take, {"a": {"1": None}})).status == "error"
