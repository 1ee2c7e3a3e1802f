"""What a model of pydantic 1 refuses is told in the words of pydantic 2, without what was sent."""

import enum
import uuid
from pathlib import Path
from typing import Any, Literal, Union

import pytest
from pydantic import ValidationError, v1

from sidecall.compat.pydantic_1.args_schema import check_by_v1
from sidecall.kernel.schema.explain import make_field_errors

CANARY = "canary-4711"


class Color(enum.Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


class Inner(v1.BaseModel):
    """Inside."""

    a: int


class Cat(v1.BaseModel):
    """A cat."""

    kind: Literal["cat"]


class Dog(v1.BaseModel):
    """A dog."""

    kind: Literal["dog"]


def _raise_value_error(cls: Any, value: str) -> str:
    raise ValueError("not {this} odd")


def _raise_type_error(cls: Any, value: str) -> str:
    raise TypeError("strange")


def _raise_assertion_error(cls: Any, value: str) -> str:
    raise AssertionError("unsure")


def _refuse_13(cls: Any, values: dict[str, Any]) -> dict[str, Any]:
    if values.get("i") == 13:
        raise ValueError("13 brings bad luck")
    return values


class Many(v1.BaseModel):
    """One field of each kind, all optional."""

    i: int = 0
    f: float = 0
    b: bool = False
    s: str = ""
    raw: bytes = b""
    d: dict[str, int] = {}
    many: list[int] = []
    t: tuple[int, str] = (0, "")
    u: set[int] = set()
    fs: frozenset[int] = frozenset()
    color: Color = Color.RED
    id: uuid.UUID = uuid.UUID(int=0)
    word: Literal["a", "b", "c"] = "a"
    one: Literal["a"] = "a"
    gt: v1.conint(gt=1) = 2  # type: ignore[valid-type]
    ge: v1.conint(ge=1) = 2  # type: ignore[valid-type]
    lt: v1.conint(lt=1) = 0  # type: ignore[valid-type]
    le: v1.conint(le=1) = 0  # type: ignore[valid-type]
    even: v1.conint(multiple_of=2) = 0  # type: ignore[valid-type]
    long: v1.constr(min_length=2) = "aa"  # type: ignore[valid-type]
    short: v1.constr(max_length=2) = ""  # type: ignore[valid-type]
    pattern: v1.constr(regex="^a+$") = "a"  # type: ignore[valid-type]
    few: v1.conlist(int, max_items=1) = []  # type: ignore[valid-type]
    pet: Union[Cat, Dog] = v1.Field(None, discriminator="kind")  # noqa: UP007  pydantic 1
    inner: Inner = Inner(a=1)
    inners: list[Inner] = []
    file: v1.FilePath = Path("x")
    url: v1.HttpUrl = "http://e.com"  # type: ignore[assignment]
    odd: str = ""
    strange: str = ""
    sure: str = ""

    class Config:
        """Closed."""

        extra = "forbid"

    _odd = v1.validator("odd", allow_reuse=True)(_raise_value_error)
    _strange = v1.validator("strange", allow_reuse=True)(_raise_type_error)
    _sure = v1.validator("sure", allow_reuse=True)(_raise_assertion_error)
    _whole = v1.root_validator(allow_reuse=True)(_refuse_13)


def _refused(given: Any) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        check_by_v1(Many, given)
    return caught.value


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"i": CANARY}, "int_parsing", "Input should be a valid integer, unable to parse string as an integer"),
        ({"i": [1]}, "int_type", "Input should be a valid integer"),
        ({"f": CANARY}, "float_parsing", "Input should be a valid number, unable to parse string as a number"),
        ({"b": CANARY}, "bool_parsing", "Input should be a valid boolean, unable to interpret input"),
        ({"s": [1]}, "string_type", "Input should be a valid string"),
        ({"raw": [1]}, "bytes_type", "Input is not valid"),
        ({"d": CANARY}, "dict_type", "Input should be a JSON object"),
        ({"inner": CANARY}, "dict_type", "Input should be a JSON object"),
        ({"many": CANARY}, "list_type", "Input should be a valid list"),
        ({"t": CANARY}, "tuple_type", "Input is not valid"),
        ({"u": CANARY}, "set_type", "Input is not valid"),
        ({"fs": CANARY}, "frozen_set_type", "Input is not valid"),
        ({"color": CANARY}, "enum", "Input should be 'red' or 'blue'"),
        ({"id": CANARY}, "uuid_parsing", "Input should be a valid UUID"),
        ({"word": CANARY}, "literal_error", "Input should be 'a', 'b' or 'c'"),
        ({"one": CANARY}, "literal_error", "Input should be 'a'"),
        ({"gt": 1}, "greater_than", "Input should be greater than 1"),
        ({"ge": 0}, "greater_than_equal", "Input should be greater than or equal to 1"),
        ({"lt": 1}, "less_than", "Input should be less than 1"),
        ({"le": 2}, "less_than_equal", "Input should be less than or equal to 1"),
        ({"even": 1}, "multiple_of", "Input should be a multiple of 2"),
        ({"long": "a"}, "string_too_short", "String should have at least 2 characters"),
        ({"short": CANARY}, "string_too_long", "String should have at most 2 characters"),
        ({"pattern": CANARY}, "string_pattern_mismatch", "String should match pattern '^a+$'"),
        ({"pet": {"kind": CANARY}}, "union_tag_invalid", "Field 'kind' must be one of 'cat', 'dog'"),
        ({"pet": {}}, "union_tag_not_found", "Unable to extract tag using discriminator 'kind'"),
        # what pydantic 2 has no word for
        ({"few": [1, 2]}, "value_error.list.max_items", "Ensure this value has at most 1 items"),
        ({"i": None}, "type_error.none.not_allowed", "Input is not valid"),
        ({"t": [1]}, "value_error.tuple.length", "Input is not valid"),
        # where pydantic 1 repeats what was sent
        ({"file": CANARY}, "value_error.path.not_exists", "Input is not valid"),
        ({"url": f"http://a.com {CANARY}"}, "value_error.url.extra", "Input is not valid"),
        # the author's own words
        ({"odd": "x"}, "value_error", "not {this} odd"),
        ({"strange": "x"}, "type_error", "strange"),
        ({"sure": "x"}, "assertion_error", "unsure"),
        ([("i", 1)], "dict_type", "Input should be a JSON object"),
    ],
)
def test_a_refusal_is_worded_as_pydantic_2_does(given: Any, kind: str, text: str) -> None:
    """Where it has words for it."""
    errors = make_field_errors(_refused(given).errors(include_url=False), {}, given)

    assert [(error["type"], error["msg"]) for error in errors] == [(kind, text)]
    assert CANARY not in str(errors)


@pytest.mark.parametrize(
    ("given", "loc", "sent"),
    [
        ({"inners": [{"a": 1}, {"a": "x"}]}, ("inners", 1, "a"), "x"),
        ({"inners": [{}]}, ("inners", 0, "a"), {}),  # of what is missing, what lacks it
        ({"zz": 1}, ("zz",), 1),
        ({"i": 13}, (), {"i": 13}),  # the model as a whole
    ],
)
def test_a_refusal_says_where(given: Any, loc: tuple[Any, ...], sent: Any) -> None:
    """And what stood there, for those who mend it."""
    (detail,) = _refused(given).errors()

    assert (detail["loc"], detail["input"]) == (loc, sent)


def test_what_fits_becomes_an_instance() -> None:
    """One that is an instance already stays itself."""
    inner = check_by_v1(Inner, {"a": "1"})

    assert inner == Inner(a=1)
    assert check_by_v1(Inner, inner) is inner


def test_the_models_own_error_is_the_cause() -> None:
    """Authors' handlers know it."""
    assert isinstance(_refused({"i": "x"}).__cause__, v1.ValidationError)
