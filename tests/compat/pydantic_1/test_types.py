"""Parameters may be annotated with models of pydantic 1, beside everything of pydantic 2."""

from typing import Annotated, Any, Optional, Union

import pytest
from pydantic import BaseModel, Field, v1

from sidecall import BaseTool, InjectedState, tool
from sidecall.kernel.core.errors import SchemaInferenceError
from tests.kit.calls import run


class Item(v1.BaseModel):
    """An item."""

    name: str
    count: int = 1


class Modern(BaseModel):
    """A model of pydantic 2."""

    a: int


class Node(v1.BaseModel):
    """A model that contains itself."""

    children: list["Node"] = []


Node.update_forward_refs()

ITEM = {
    "description": "An item.",
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"default": 1, "type": "integer"}},
    "required": ["name"],
}


def _taking(annotation: Any, *default: Any) -> BaseTool:
    def take(x: Any) -> str:
        """Take."""
        return repr(x)

    take.__annotations__["x"] = annotation
    take.__defaults__ = default or None
    return tool(take)


@pytest.mark.parametrize(
    ("annotation", "schema", "sent", "arrives"),
    [
        (Item, ITEM, {"name": "n", "count": "2"}, "Item(name='n', count=2)"),
        (
            Annotated[Item, Field(description="One.")],
            {**ITEM, "description": "One."},
            {"name": "n"},
            "Item(name='n', count=1)",
        ),
        (list[Item], {"type": "array", "items": ITEM}, [{"name": "n"}], "[Item(name='n', count=1)]"),
        (
            dict[str, list[Item]],
            {"type": "object", "additionalProperties": {"type": "array", "items": ITEM}},
            {"a": [{"name": "n"}]},
            "{'a': [Item(name='n', count=1)]}",
        ),
        (Item | None, {"anyOf": [ITEM, {"type": "null"}]}, None, "None"),
        (Optional[Item], {"anyOf": [ITEM, {"type": "null"}]}, {"name": "n"}, "Item(name='n', count=1)"),  # noqa: UP045
        (
            Union[Item, int],  # noqa: UP007
            {"anyOf": [ITEM, {"type": "integer"}]},
            5,
            "5",
        ),
    ],
)
async def test_a_model_of_pydantic_1_is_a_type_like_any_other(
    annotation: Any, schema: dict[str, Any], sent: Any, arrives: str
) -> None:
    """Wherever it stands in the annotation."""
    made = _taking(annotation)

    assert made.compiled.args_schema.flat["properties"] == {"x": schema}
    assert (await run(made, {"x": sent})).content == arrives


async def test_both_pydantics_may_stand_in_one_signature() -> None:
    """Each checks its own."""

    @tool
    def take(old: Item, new: Modern, limit: int = 3) -> Item:
        """Take."""
        return Item(name=f"{old.name} {new.a}", count=limit)

    message = await run(take, {"old": {"name": "n"}, "new": {"a": 1}})

    assert message.content == '{"name": "n 1", "count": 3}'
    assert take.compiled.output_schema == ITEM


@pytest.mark.parametrize(
    ("sent", "content"),
    [
        ({}, "x.name: Field required (string)"),
        (
            {"name": "n", "count": "canary"},
            "x.count: Input should be an integer",
        ),
        ("canary", "x: Input should be an object {name, count?}"),
    ],
)
async def test_its_refusals_are_worded_as_the_others(sent: Any, content: str) -> None:
    """With the path, and without what was sent."""
    assert (await run(_taking(Item), {"x": sent})).content == content


async def test_text_instead_of_an_object_is_read_and_reported() -> None:
    """As for any other model."""
    message = await run(_taking(Item), {"x": '{"name": "n"}'})

    assert message.content == "Item(name='n', count=1)"
    assert message.response_metadata["repaired"] == ["x: JSON text instead of an object"]


@pytest.mark.filterwarnings("ignore:Mixing V1 models and V2 models")  # as pydantic below 2.14 says
async def test_an_instance_may_be_the_default() -> None:
    """It is not advertised, since JSON Schema would have to say it."""
    assert (await run(_taking(Item, Item(name="d")), {})).content == "Item(name='d', count=1)"


async def test_the_caller_may_supply_one() -> None:
    """Hidden from the model."""
    made = _taking(Annotated[Item, InjectedState("item")])

    message = await run(made, {}, state={"item": {"name": "n"}})

    assert message.content == "Item(name='n', count=1)"


class SecretOfBoth:
    """A type that both pydantics know how to check."""

    @classmethod
    def __get_validators__(cls) -> Any:
        """Pydantic 1's way."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: Any) -> Any:
        """Pydantic 2's way."""
        return handler(str)


async def test_a_type_for_both_is_pydantic_2s() -> None:
    """Many libraries had to serve both."""
    made = _taking(list[SecretOfBoth])

    assert made.compiled.args_schema.flat["properties"] == {"x": {"type": "array", "items": {"type": "string"}}}


@pytest.mark.parametrize(
    ("annotation", "complaint"),
    [
        (v1.SecretStr, "parameter `x`: SecretStr is of pydantic 1; "),
        (list[v1.SecretStr], "parameter `x`: SecretStr is of pydantic 1; "),
        (Annotated[list[v1.constr(min_length=2)], "Texts."], "parameter `x`: ConstrainedStrValue is of pydantic 1; "),
        (Node, "parameter `x`: Node refers to itself and is of pydantic 1; "),
    ],
)  # fmt: skip
def test_other_types_of_pydantic_1_are_refused_at_the_start(annotation: Any, complaint: str) -> None:
    """The message names tool and parameter, and what to write instead."""
    with pytest.raises(SchemaInferenceError) as caught:
        _ = _taking(annotation).compiled

    assert f": tool 'take': {complaint}take the type of pydantic 2, or give a pydantic 1 model" in caught.value.message


class Opaque:
    """What only pydantic 1 can check, and only the caller can supply."""

    @classmethod
    def __get_validators__(cls) -> Any:
        """Pydantic 1's way."""
        yield lambda value: value


@pytest.mark.filterwarnings("ignore:`__get_validators__` is deprecated")  # pydantic 2 says so to the author
def test_a_hidden_parameter_may_have_any_type() -> None:
    """The caller supplies it."""
    made = _taking(Annotated[Opaque, InjectedState("it")])

    assert made.compiled.args_schema.flat["properties"] == {}
