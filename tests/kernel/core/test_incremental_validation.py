"""Large values are validated in steps: as pydantic does, but for the number of errors."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    Json,
    MongoDsn,
    TypeAdapter,
    ValidationError,
)
from typing_extensions import TypedDict

from sidecall.kernel.core import incremental_validation
from sidecall.kernel.core.incremental_validation import StepwiseValidator


class _Heron(BaseModel):
    kind: Literal["heron"]
    legs: int


class _Fern(BaseModel):
    kind: Literal["fern"]
    height: float


class _Node(BaseModel):
    number: int
    inner: list["_Node"] = []
    named: dict[str, "_Node"] | list[int] | None = None


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    x: int = 0


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    when: list[date]
    numbers: tuple[int, ...] = ()


class _Typed(TypedDict, total=False):
    a: int
    b: list[int]


def _refuse(value: Any) -> Any:
    if value == "boom":
        raise ValueError("it is {boom}")
    return value


class _All(BaseModel):
    values: list[_Heron | _Fern | int | datetime] = []
    one_kind: list[int] | list[str] | dict[str, int] = []
    tagged: list[Annotated[_Heron | _Fern, Field(discriminator="kind")]] = []
    numbers: set[int] = set()
    pair: tuple[int, str] | None = None
    row: tuple[float, ...] = ()
    tree: _Node | None = None
    typed: _Typed | None = None
    open: _Open | None = None
    strict: _Strict | None = None
    by_day: dict[date, list[_Heron | _Fern]] = {}
    refused: list[Annotated[str, BeforeValidator(_refuse)]] = []
    few: list[Annotated[int, Field(gt=3)]] = Field([], max_length=5)
    lists: list[list[int] | list[bool]] | list[list[str]] = []


_PLAIN, _STEPWISE = _All.__pydantic_validator__, StepwiseValidator(_All.__pydantic_core_schema__)
_GIVEN: list[dict[str, Any]] = [
    {},
    {"values": [1, "2026-01-01T00:00:00", {"kind": "heron", "legs": "9"}, {"kind": "fern", "height": 2}]},
    {"values": [{"kind": "none"}, "x", None, []]},
    {"one_kind": ["1"]},
    {"one_kind": [1.5, "a"]},
    {"one_kind": {"a": "x"}},
    {"one_kind": 3},
    {"tagged": [{"kind": "heron", "legs": 1}, {"kind": "fern"}, {"kind": "no"}, {}, 3]},
    {"numbers": [1, 1, "2"]},
    {"numbers": ["a", []]},
    {"pair": [1, "a"], "row": ["1", 2]},
    {"pair": [1], "row": ["x"]},
    {"tree": {"number": 1, "inner": [{"number": 2, "inner": [{"number": "x"}]}]}},
    {"tree": {"number": 1, "named": {"a": {"number": "q"}}}},
    {"tree": {"number": 1, "named": [1], "other": 1}},
    {"typed": {"a": "x", "b": ["x"], "c": 1}},
    {"open": {"x": 1, "y": "2"}},
    {"open": {"x": 1, "y": "q"}},
    {"strict": {"when": ["2026-01-01"], "numbers": [1]}},
    {"strict": {"when": ["no"], "numbers": ["1"]}},
    {"by_day": {"2026-01-01": [{"kind": "fern", "height": 1}]}},
    {"by_day": {"x": [{"kind": "fern", "height": 1}], "2026-01-01": [3]}},
    {"refused": ["boom", "a", 1]},
    {"few": [1, 2]},
    {"few": [9] * 6},
    {"lists": [[1], ["a"]]},
    {"lists": [[True], [1]]},
    {"other": 1},
]
_Validate = Callable[[Any, Any, Literal["forbid"] | None], Any]
_WAYS: list[_Validate] = [
    lambda validator, given, extra: validator.validate_python(given, extra=extra),
    lambda validator, given, extra: validator.validate_json(json.dumps(given).encode(), extra=extra),
]


def _tell(validate: _Validate, validator: Any, given: Any, extra: Literal["forbid"] | None) -> Any:
    """Return what is made of a value, or the errors; lists are not named where they are members of unions."""
    try:
        return repr(validate(validator, given, extra))
    except ValidationError as error:
        told = json.loads(error.json(include_url=False))
        return [{**it, "loc": [step for step in it["loc"] if "[" not in str(step)]} for it in told]


@pytest.mark.parametrize("given", _GIVEN, ids=str)
@pytest.mark.parametrize("validate", _WAYS, ids=["python", "json"])
@pytest.mark.parametrize("extra", [None, "forbid"])
def test_the_same_is_made_and_told(given: Any, validate: _Validate, extra: Literal["forbid"] | None) -> None:
    """Of values, names, keys, unions, sets and what refers to itself."""
    assert _tell(validate, _STEPWISE, given, extra) == _tell(validate, _PLAIN, given, extra)


_SCALARS = [1, "1", "x", 1.5, True, None, "2026-01-01", {"kind": "heron", "legs": 1}, {"kind": "fern"}, {"number": 1}]
_NAMES = ["a", "2026-01-01", "x", "number", "inner", "named", "kind", "b"]


def _make_values(dice: random.Random, depth: int = 3) -> Any:
    chance = dice.random()
    if depth == 0 or chance < 0.4:
        return dice.choice(_SCALARS)
    if chance < 0.75:
        return [_make_values(dice, depth - 1) for _ in range(dice.randint(0, 4))]
    return {dice.choice(_NAMES): _make_values(dice, depth - 1) for _ in range(dice.randint(0, 3))}


@pytest.mark.parametrize("most", [(1, 0), (1, 1), (2, 3)])
def test_what_fits_does_not_depend_on_how_many_errors_are_collected(
    monkeypatch: pytest.MonkeyPatch, most: tuple[int, int]
) -> None:
    """Members that are taken for right are so only where their list or object is refused."""
    monkeypatch.setattr(incremental_validation, "_MOST_EACH", most[0])
    monkeypatch.setattr(incremental_validation, "_MOST", most[1])
    dice = random.Random(most[1])

    for _ in range(800):
        given = {dice.choice(list(_All.model_fields)): _make_values(dice) for _ in range(2)}
        for validate in _WAYS:
            plain, told = (_tell(validate, it, given, None) for it in (_PLAIN, _STEPWISE))
            assert (told == plain) if isinstance(plain, str) else not isinstance(told, str), given


def _many(members: int) -> Iterator[tuple[str, Any]]:
    wrong = {"kind": "none", "legs": 1}
    yield "values", [wrong] * members
    yield "values", [{"kind": "heron", "legs": 1}] * members + [wrong] * members
    yield "one_kind", [[]] * members
    yield "tagged", [wrong] * members
    yield "numbers", [f"text {it}" for it in range(members)]
    yield "by_day", {f"text {it}": [wrong] for it in range(members)}
    yield "lists", [[None, "x"]] * members
    yield "open", {f"name {it}": "x" for it in range(members)}


@pytest.mark.parametrize(("name", "values"), list(_many(2_000)), ids=lambda it: it if isinstance(it, str) else "")
@pytest.mark.parametrize("validate", _WAYS, ids=["python", "json"])
def test_few_of_many_errors_are_collected(name: str, values: Any, validate: _Validate) -> None:
    """More than are told, and not one for each member of each union."""
    with pytest.raises(ValidationError) as caught:
        validate(_STEPWISE, {name: values}, None)

    assert 100 < caught.value.error_count() < 2_000


_ROW = {"kind": "heron", "legs": 1}


@pytest.mark.parametrize("validate", _WAYS, ids=["python", "json"])
@pytest.mark.parametrize(
    ("given", "turns"),
    [
        ({"values": [1, _ROW] * 250}, 500),
        ({"tagged": [_ROW] * 500}, 500),
        ({"numbers": list(range(500))}, 500),
        ({"refused": ["a"] * 500}, 500),
        ({"by_day": {f"20{it}-01-01": [_ROW] * 10 for it in range(10, 60)}}, 50 + 50 + 500),
        # So many numbers are read within the time of one turn.
        ({"row": [1.0] * 500, "few": [9] * 5}, 0),
    ],
    ids=lambda it: next(iter(it)) if isinstance(it, dict) else "",
)
def test_others_have_their_turn_after_each_member(
    monkeypatch: pytest.MonkeyPatch, given: Any, turns: int, validate: _Validate
) -> None:
    """But for numbers in a list."""
    taken: list[Any] = []

    def take_turn(value: Any) -> Any:
        taken.append(value)
        return value

    for name in ("_pass", "_look"):
        monkeypatch.setattr(incremental_validation, name, take_turn)
    validator = StepwiseValidator(_All.__pydantic_core_schema__)

    validate(validator, given, None)

    assert len(taken) == turns


class _Sum(BaseModel):
    op: Literal["sum"]
    left: "_Sum | _Product | int | date"
    right: "_Sum | _Product | int"


class _Product(BaseModel):
    op: Literal["product"]
    left: "_Sum | _Product | int | date"
    right: "_Sum | _Product | int"


class _Nested(BaseModel):
    value: _Sum | _Product | dict[str, _Sum | int] | list[_Product | str] | None


_NESTED = [StepwiseValidator(_Nested.__pydantic_core_schema__), _Nested.__pydantic_validator__]


def _nest(levels: int, leaf: Any) -> Any:
    return {"op": "sum", "left": _nest(levels - 1, leaf), "right": 1} if levels else leaf


@pytest.mark.parametrize("leaf", [1, "2026-01-01", "x", None, 1.5], ids=str)
@pytest.mark.parametrize("validate", _WAYS, ids=["python", "json"])
@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: {"a": it}, lambda it: [it]], ids=["", "named", "listed"])
def test_the_same_is_made_and_told_of_choices_that_lead_back(leaf: Any, validate: _Validate, wrap: Any) -> None:
    """A few levels are as before."""
    stepwise_told, plain = (_tell(validate, it, {"value": wrap(_nest(3, leaf))}, None) for it in _NESTED)

    assert stepwise_told == plain


@pytest.mark.parametrize("leaf", [1, "x"], ids=["fits", "does not fit"])
@pytest.mark.parametrize("validate", _WAYS, ids=["python", "json"])
def test_choices_that_multiply_are_given_up(leaf: Any, validate: _Validate) -> None:
    """Pydantic would look at the innermost value of 60 levels 2 ** 60 times."""
    with pytest.raises(ValidationError) as caught:
        validate(_NESTED[0], {"value": _nest(60, leaf)}, None)

    assert [error["type"] for error in caught.value.errors()] == ["too_many_choices"]


def test_values_beside_each_other_are_not_given_up() -> None:
    """Choices are looked at once for each of them."""
    with pytest.raises(ValidationError) as caught:
        _NESTED[0].validate_python({"value": ["x"] * 10_000 + [{"op": "none"}] * 10_000})

    assert "too_many_choices" not in [error["type"] for error in caught.value.errors()]


def test_members_that_cost_too_much_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of one hash are compared with all before them."""
    monkeypatch.setattr(incremental_validation, "_MOST_SECONDS", -1.0)
    given = {"numbers": [number * (2**61 - 1) for number in range(1, 500)]}

    with pytest.raises(ValidationError) as caught:
        StepwiseValidator(_All.__pydantic_core_schema__).validate_python(given)

    assert [error["type"] for error in caught.value.errors()] == ["too_long"]


_LONG_ADDRESS = "http://" + "é." * 40_000 + "com/"
TOO_MUCH_AT_ONCE: list[tuple[Any, Any, str]] = [
    (AnyUrl, _LONG_ADDRESS, "URL should have at most 65536 characters"),
    (MongoDsn, "mongodb://" + "a," * 40_000, "URL should have at most 65536 characters"),
    (dict[str, AnyUrl], {"a": _LONG_ADDRESS}, "URL should have at most 65536 characters"),
    (HttpUrl, "http://a/" + "a" * 3_000, "URL should have at most 2083 characters"),
    (Json[list[int]], "[" + "1," * 50_000 + "1]", "JSON in a text may have at most 50,000 values"),
]


@pytest.mark.parametrize(("kind", "value", "said"), TOO_MUCH_AT_ONCE)
def test_what_cannot_be_read_in_steps_is_bounded(kind: Any, value: Any, said: str) -> None:
    """Pydantic reads an address of 4 MB for most of a second while all others wait."""
    with pytest.raises(ValidationError) as caught:
        StepwiseValidator(TypeAdapter(kind).core_schema).validate_python(value)

    assert [error["msg"] for error in caught.value.errors()] == [said]


@pytest.mark.parametrize(
    ("kind", "value"),
    [(AnyUrl, "http://a/" + "a" * 60_000), (Json[list[int]], "[" + "1," * 40_000 + "1]"), (Json[str], '"a"')],
)
def test_below_that_it_is_read_as_by_pydantic(kind: Any, value: Any) -> None:
    """With the same value."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)

    assert StepwiseValidator(adapter.core_schema).validate_python(value) == adapter.validate_python(value)
