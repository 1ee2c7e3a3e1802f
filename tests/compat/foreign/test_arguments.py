"""Arguments that somebody else reads again are checked here and handed on as they were sent."""

from datetime import date
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator, v1

from sidecall.compat.foreign.langchain import PassThroughArgsSchema, make_pass_through
from sidecall.kernel.core.errors import InvalidArguments, InvalidToolOption


class Inner(BaseModel):
    """Something inside."""

    n: int


class Trip(BaseModel):
    """Arguments with a name of their own, and a validator that must not be run on what it returned."""

    from_: int = Field(alias="from", ge=1)
    tags: list[str] = Field([], validation_alias=AliasChoices("tags", "labels"))
    user: str = "nobody"

    @field_validator("tags", mode="before")
    @classmethod
    def _split(cls, value: str) -> list[str]:
        return value.split(",")

    @model_validator(mode="after")
    def _refuse_thirteen(self) -> "Trip":
        if self.from_ == 13:
            raise ValueError("unlucky")
        return self


class Plan(BaseModel):
    """Arguments that can be read twice."""

    from_: int = Field(alias="from")
    inner: Inner | None = None
    days: int = 3


class OldTrip(v1.BaseModel):
    """Arguments of pydantic 1."""

    from_: int = v1.Field(..., alias="from")
    days: int = 3

    class Config:
        """Forget what is not known."""

        extra = "ignore"


class StrictTrip(BaseModel):
    """Arguments that only JSON can say."""

    model_config = ConfigDict(strict=True, extra="allow")

    when: date


def trip(hidden: frozenset[str] = frozenset(), *, forbid_unknown: bool = False) -> PassThroughArgsSchema:
    """Take the first of the models."""
    return make_pass_through("here", Trip, hidden, forbid_unknown=forbid_unknown)


@pytest.mark.parametrize(
    ("model", "args", "expected"),
    [
        pytest.param(Trip, {"from": "1", "tags": "a,b"}, {"from": "1", "tags": "a,b"}, id="as sent"),
        pytest.param(Trip, {"from": 1, "z": 2}, {"from": 1}, id="without what is unknown"),
        pytest.param(
            Plan,
            {"from": "1", "inner": '{"n": 2}', "days": None},
            {"from": 1, "inner": Inner(n=2), "days": 3},
            id="mended",
        ),
        pytest.param(OldTrip, {"from": "1", "z": True}, {"from": "1"}, id="pydantic 1"),
        pytest.param(OldTrip, {"from": "1", "days": None}, {"from": 1, "days": 3}, id="pydantic 1, mended"),
        pytest.param(StrictTrip, {"when": "2026-01-02", "x": 1}, {"when": date(2026, 1, 2), "x": 1}, id="strict"),
    ],
)
def test_arguments_are_handed_on(model: Any, args: dict[str, Any], expected: dict[str, Any]) -> None:
    """As the model made them only where something had to be mended."""
    arguments = make_pass_through("here", model, frozenset(), forbid_unknown=False)

    given = arguments.validate(args, {}, [], [])

    assert given == expected


def test_what_cannot_be_read_twice_is_for_the_model_to_mend() -> None:
    """Nothing can be handed on then."""
    with pytest.raises(InvalidArguments) as caught:
        trip().validate({"from": 1, "user": None}, {}, [], [])

    assert caught.value.message == "user: Input should be a string"


@pytest.mark.parametrize(
    ("arguments", "args", "injected", "expected"),
    [
        pytest.param(trip(), {"from": 0}, {}, "from: Input should be an integer, at least 1", id="a field"),
        pytest.param(trip(), {"from": 13}, {}, "arguments: unlucky", id="the whole"),
        pytest.param(
            trip(forbid_unknown=True),
            {"from": 1, "z": 2},
            {},
            "z: There is no such argument; the arguments are: from, tags, user",
            id="closed",
        ),
        pytest.param(
            trip(frozenset({"user"})),
            {"from": 13},
            {"user": "ada"},
            "arguments: unlucky",
            id="the whole, with a hidden field",
        ),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: PassThroughArgsSchema, args: dict[str, Any], injected: dict[str, Any], expected: str
) -> None:
    """In the words that all tools use."""
    with pytest.raises(InvalidArguments) as caught:
        arguments.validate(args, injected, [], [])

    assert caught.value.message == expected


def test_a_hidden_field_is_not_shown_and_is_handed_on() -> None:
    """Under the name that the model reads."""
    arguments = trip(frozenset({"from_"}))

    assert list(arguments.flat["properties"]) == ["tags", "user"]
    assert arguments.json_schema == arguments.flat
    assert (arguments.hidden, arguments.reserved) == ({"from_": "from"}, frozenset({"from_", "from"}))
    assert arguments.validate({"user": "bo"}, {"from_": 2}, [], []) == {"user": "bo", "from": 2}


def test_a_hidden_field_may_be_left_out() -> None:
    """Its default counts then."""
    assert trip(frozenset({"user"})).validate({"from": 2}, {}, [], []) == {"from": 2}


def test_a_model_that_wants_unknown_arguments_is_not_closed() -> None:
    """As with our own models."""
    with pytest.raises(InvalidToolOption):
        make_pass_through("here", StrictTrip, frozenset(), forbid_unknown=True)
