"""Types made of types: containers, unions, and classes with fields."""

from typing import Any

from hypothesis import strategies as st

from tests.properties.json_values import texts
from tests.properties.kinds import MARK, Kind

Kinds = st.SearchStrategy[Kind]
_OPTIONAL = ("Optional[{}]", "{} | None", "Union[None, {}]")


def joined(parts: tuple[Kind, ...], definition: str = "", **rest: Any) -> Kind:
    """Make a kind out of others, which hands on what holds of a whole when it holds of its parts."""
    needed = dict.fromkeys(text for part in parts for text in part.definitions)
    inherited = {
        "definitions": (*needed, definition) if definition else tuple(needed),
        "hashable": False,
        "exact": all(part.exact for part in parts),
        "sayable": all(part.sayable for part in parts),
    }
    return Kind(**(inherited | rest))


_ARRAY = frozenset({"array"})


def _lists(item: Kind) -> Kind:
    return joined(
        (item,),
        source=f"list[{item.source}]",
        good=st.lists(item.good, max_size=3),
        misfits=st.tuples(item.good, item.bad_or_null).map(list),
        takes=_ARRAY,
        fits=lambda value: type(value) is list and all(map(item.fits, value)),
        default="[]",
    )


def _short_lists(item: Kind) -> Kind:
    return joined(
        (item,),
        source=f"Annotated[list[{item.source}], Field(min_length=1, max_length=2)]",
        good=st.lists(item.good, min_size=1, max_size=2),
        misfits=st.lists(item.good, min_size=3, max_size=4) | st.just([]),
        takes=_ARRAY,
        fits=lambda value: type(value) is list and 1 <= len(value) <= 2 and all(map(item.fits, value)),
    )


def _sets(item: Kind, name: str, python: type) -> Kind:
    return joined(
        (item,),
        source=f"{name}[{item.source}]",
        good=st.lists(item.good, max_size=1),
        misfits=item.bad_or_null.map(lambda value: [value]),
        takes=_ARRAY,
        fits=lambda value: type(value) is python and all(map(item.fits, value)),
        default=f"{name}()",
        hashable=python is frozenset,
    )


def _variadic_tuples(item: Kind) -> Kind:
    return joined(
        (item,),
        source=f"tuple[{item.source}, ...]",
        good=st.lists(item.good, max_size=3),
        misfits=st.tuples(item.bad_or_null, item.good).map(list),
        takes=_ARRAY,
        fits=lambda value: type(value) is tuple and all(map(item.fits, value)),
        default="()",
        hashable=item.hashable,
    )


def _fixed_tuples(items: tuple[Kind, ...]) -> Kind:
    good = st.tuples(*(item.good for item in items)).map(list)
    spoiled = (st.tuples(*(two.bad_or_null if two is one else two.good for two in items)).map(list) for one in items)
    return joined(
        items,
        source=f"tuple[{', '.join(item.source for item in items)}]",
        good=good,
        misfits=st.one_of(good.map(lambda value: [*value, MARK]), good.map(lambda value: value[1:]), *spoiled),
        takes=_ARRAY,
        fits=lambda value: type(value) is tuple and all_fit(items, value),
        hashable=all(item.hashable for item in items),
        sayable=False,
    )


def all_fit(kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> bool:
    """Judge each value by the kind in its place."""
    return len(kinds) == len(values) and all(kind.fits(value) for kind, value in zip(kinds, values, strict=True))


def _dicts(item: Kind) -> Kind:
    return joined(
        (item,),
        source=f"dict[str, {item.source}]",
        good=st.dictionaries(texts(), item.good, max_size=2),
        misfits=item.bad_or_null.map(lambda value: {"key": value}),
        takes=frozenset({"object"}),
        fits=lambda value: type(value) is dict and all(type(key) is str and item.fits(value[key]) for key in value),
        default="{}",
        sayable=False,
    )


def _optionals(item: Kind, form: str) -> Kind:
    # `None | None` is an error.
    return joined(
        (item,),
        source=("Optional[{}]" if item.source == "None" else form).format(item.source),
        good=st.none() | item.good,
        misfits=item.misfits,
        takes=item.takes | {"null"},
        fits=lambda value: value is None or item.fits(value),
        default="None",
        hashable=item.hashable,
    )


def _unions(one: Kind, two: Kind) -> Kind:
    # No misfits: what the one refuses the other may take.
    return joined(
        (one, two),
        source=f"Union[{one.source}, {two.source}]",
        good=one.good | two.good,
        takes=one.takes | two.takes,
        fits=lambda value: one.fits(value) or two.fits(value),
        default=one.default,
        hashable=one.hashable and two.hashable,
    )


def containers(inner: Kinds) -> Kinds:
    """Draw a type made of these types."""
    hashable = inner.filter(lambda kind: kind.hashable)
    return st.one_of(
        inner.map(_lists),
        inner.map(_short_lists),
        hashable.map(lambda item: _sets(item, "set", set)),
        hashable.map(lambda item: _sets(item, "frozenset", frozenset)),
        inner.map(_variadic_tuples),
        st.lists(inner, min_size=1, max_size=3).map(tuple).map(_fixed_tuples),
        inner.map(_dicts),
        st.builds(_optionals, inner, st.sampled_from(_OPTIONAL)),
        st.builds(_unions, inner, inner),
    )
