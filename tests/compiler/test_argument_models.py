"""A tool asks a model of its arguments the same, no matter which pydantic it is of."""

from typing import Annotated, Any

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, ValidationError, v1

from sidecall import InjectedState
from sidecall.compiler.argument_models import open_model


class New(BaseModel):
    """Of pydantic 2."""

    model_config = ConfigDict(extra="forbid")

    from_: int = Field(alias="from")
    days: int = 3
    user: Annotated[str, InjectedState("user")] = "nobody"


class Old(v1.BaseModel):
    """The same of pydantic 1."""

    from_: int = v1.Field(..., alias="from")
    days: int = 3
    user: Annotated[str, InjectedState("user")] = "nobody"

    class Config:
        """Refuse what is not known."""

        extra = "forbid"


class Open(BaseModel):
    """A model with several names for a field, which takes anything."""

    model_config = ConfigDict(extra="allow")

    a: int = Field(validation_alias=AliasChoices("x", "y"))
    b: int = Field(validation_alias=AliasPath("z", 0))


@pytest.mark.parametrize("kind", [New, Old])
def test_models_of_both_pydantics_tell_the_same(kind: Any) -> None:
    """What a tool has to know of its fields."""
    model = open_model(kind)

    assert model.kind is kind
    assert model.aliases == {"from_": "from", "days": "days", "user": "user"}
    assert model.required == {"from_"}
    assert model.extra == "forbid"
    assert list(model.read_annotations()) == ["from_", "days", "user"]
    assert [(i.parameter, i.source, i.field, i.required) for i in model.plan_injections("here")] == [
        ("user", "state", "user", False)
    ]


@pytest.mark.parametrize("kind", [New, Old])
def test_models_of_both_pydantics_check_values(kind: Any) -> None:
    """Errors are those of pydantic 2."""
    model = open_model(kind)

    assert model.check({"from": 1}).from_ == 1
    with pytest.raises(ValidationError) as caught:
        model.check({"days": 1})
    assert [(error["type"], error["loc"]) for error in caught.value.errors()] == [("missing", ("from",))]


@pytest.mark.parametrize("kind", [New, Old])
def test_models_of_both_pydantics_are_compiled(kind: Any) -> None:
    """Without what is hidden."""
    compiled = open_model(kind).make_args_schema("here", frozenset({"user"}), takes_extra=False)

    assert sorted(compiled.flat["properties"]) == ["days", "from"]
    assert compiled.hidden == {"user": "user"}


def test_the_first_of_several_names_counts() -> None:
    """A path has none of its own."""
    assert open_model(Open).aliases == {"a": "x", "b": "b"}
    assert open_model(Open).extra == "allow"


def test_fields_are_dropped_in_a_copy() -> None:
    """The model itself keeps them."""
    model = open_model(New)

    assert list(model.drop_fields(frozenset({"days"})).aliases) == ["from_", "user"]
    assert list(model.aliases) == ["from_", "days", "user"]
    assert model.drop_fields(frozenset()) is model
