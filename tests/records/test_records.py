"""Our `dataclass` makes what that of the standard library makes."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from sidecall.records import dataclass

# Type checkers see that of the standard library in both, so classes are made from a plain one in each test.
Make = Callable[..., Any]
BOTH: list[Make] = [dataclass, dataclasses.dataclass]


class _Plain:
    """Has a field of each kind."""

    name: str
    size: int = 1
    parts: list[int] = dataclasses.field(default_factory=list)
    seen: int = dataclasses.field(default=0, init=False, compare=False)
    made: list[int] = dataclasses.field(default_factory=list, init=False, repr=False)
    last: str = dataclasses.field(default="z", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seen", 7)


@dataclass(frozen=True, slots=True)
class Kept:
    """Can be pickled, as it has a name here."""

    name: str
    size: int = 2


def _fresh(make: Make, **options: bool) -> Any:
    body = {name: value for name, value in vars(_Plain).items() if name not in ("__dict__", "__weakref__")}
    return make(**options)(type("Plain", (), body))


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("options", [{}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True}])
def test_an_instance_is_made_shown_and_compared_by_its_fields(make: Make, options: dict[str, bool]) -> None:
    """With defaults, factories, what takes no argument, and what follows."""
    kind = _fresh(make, **options)

    one, other = kind("a", parts=[1]), kind("a", 1, [1], last="z")

    assert repr(one) == "Plain(name='a', size=1, parts=[1], seen=7, last='z')"
    assert one == other
    assert one != kind("b")
    assert one != "a"
    assert one.made == []
    assert one.made is not other.made
    assert dataclasses.asdict(one)["seen"] == 7
    assert dataclasses.replace(one, size=3).size == 3
    assert kind.__match_args__ == ("name", "size", "parts")
    assert hasattr(one, "__dict__") != options.get("slots", False)


@pytest.mark.parametrize("make", BOTH)
def test_what_is_frozen_refuses_changes_in_the_same_words(make: Make) -> None:
    """Of a field it has."""
    one = _fresh(make, frozen=True, slots=True)("a")

    with pytest.raises(dataclasses.FrozenInstanceError, match=r"^cannot assign to field 'size'$"):
        one.size = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match=r"^cannot delete field 'size'$"):
        del one.size


@pytest.mark.parametrize("make", BOTH)
def test_only_what_is_frozen_and_compared_has_a_hash_of_its_fields(make: Make) -> None:
    """As two that are equal have to have the same for ever."""

    def point(**options: bool) -> Any:
        return make(**options)(type("Point", (), {"__annotations__": {"x": int}}))

    frozen, same = point(frozen=True), point(eq=False)

    assert hash(frozen(1)) == hash(frozen(1))
    assert len({frozen(1), frozen(1), frozen(2)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(point()(1))
    assert same(1) != same(1)
    assert len({same(1), same(1)}) == 2


@pytest.mark.parametrize("make", BOTH)
def test_one_without_fields_equals_others_of_its_kind(make: Make) -> None:
    """And is made from nothing."""
    empty = make(frozen=True)(type("Empty", (), {}))

    assert empty() == empty()
    assert hash(empty()) == hash(empty())
    assert repr(empty()) == "Empty()"


@pytest.mark.parametrize("make", BOTH)
def test_wrong_arguments_are_told_of_as_for_any_function(make: Make) -> None:
    """With the name of the class before them."""
    kind = _fresh(make)

    with pytest.raises(TypeError, match=r"Plain\.__init__\(\) missing 1 required positional argument: 'name'"):
        kind()
    assert list(inspect.signature(kind).parameters) == ["name", "size", "parts", "last"]
    assert kind.__init__.__annotations__["size"] is int


@pytest.mark.parametrize("make", BOTH)
def test_what_the_class_does_itself_and_what_it_inherits_stays(make: Make) -> None:
    """Also from another dataclass, frozen as that is."""
    base = _fresh(make, frozen=True)
    longer = make(frozen=True)(type("Longer", (base,), {"__annotations__": {"more": int}, "more": 5}))
    shown = make(type("Shown", (), {"__annotations__": {"x": int}, "__repr__": lambda self: f"<{self.x}>"}))

    assert longer("a", 1, [], 6).more == 6
    assert longer("a") != base("a")
    assert repr(shown(1)) == "<1>"
    assert shown(1) == shown(1)


@pytest.mark.parametrize("make", BOTH)
def test_a_ring_of_instances_can_be_shown(make: Make) -> None:
    """Where it closes, dots stand."""
    kind = make(type("Ring", (), {"__annotations__": {"next": Any}, "next": None}))
    one = kind()
    one.next = kind(one)

    assert repr(one) == "Ring(next=Ring(next=...))"


def test_what_is_frozen_and_has_slots_can_be_copied_and_pickled() -> None:
    """As what goes to a tool's process is."""
    one = Kept("a", 3)

    assert copy.copy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_class_without_a_docstring_stays_without() -> None:
    """Where the standard library would put its signature, which nobody reads."""
    assert dataclass(type("Point", (), {"__annotations__": {"x": int}})).__doc__ is None
