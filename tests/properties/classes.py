"""Types that authors define: models, dataclasses, typed dicts, named tuples, and models that refer to models."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.properties.composites import Kinds, containers, joined
from tests.properties.json_values import Values
from tests.properties.kinds import MARK, Kind, leaves

_NAMES = ("a", "value", "kind", "größe", "class_", "type", "名前", "x1", "title", "default")


@dataclass(frozen=True)
class Member:
    """Describe one field of a class; `key` is its name in JSON, `is_optional` says that it has a default."""

    name: str
    key: str
    kind: Kind
    is_optional: bool

    @property
    def bad(self) -> Values:
        """Draw what it refuses."""
        return self.kind.bad if self.is_optional else self.kind.bad_or_null


@dataclass(frozen=True)
class Form:
    """Describe one way to define a class: its text, the text of a field, and how fields are read from an instance."""

    head: str
    member: Callable[[Member], str]
    fields: Callable[[Any], dict[str, Any]]
    has_aliases: bool = False
    is_array: bool = False


def _assigned(member: Member) -> str:
    return f"{member.name}: {member.kind.source}" + (f" = {member.kind.default}" if member.is_optional else "")


def _aliased(member: Member) -> str:
    said = [f"default={member.kind.default}"] if member.is_optional else []
    said += [f"alias={member.key!r}"] if member.key != member.name else []
    return f"{member.name}: {member.kind.source} = Field({', '.join(said)})" if said else _assigned(member)


def _not_required(member: Member) -> str:
    source = member.kind.source
    return f"{member.name}: {f'NotRequired[{source}]' if member.is_optional else source}"


def _slots(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def _named(value: Any) -> dict[str, Any]:
    fields: dict[str, Any] = value._asdict()
    return fields


_BY_NAME = "ConfigDict(validate_by_name=True, validate_by_alias=True)"
_FORMS = (
    Form("class NAME(BaseModel):", _aliased, vars, has_aliases=True),
    Form("class NAME(BaseModel):\n    model_config = ConfigDict(extra='forbid')", _aliased, vars, has_aliases=True),
    Form(f"class NAME(BaseModel):\n    model_config = {_BY_NAME}", _aliased, vars, has_aliases=True),
    Form("@dataclass\nclass NAME:", _assigned, vars),
    Form("@dataclass(frozen=True, slots=True)\nclass NAME:", _assigned, _slots),
    Form("class NAME(TypedDict):", _not_required, dict),
    Form("class NAME(NamedTuple):", _assigned, _named, is_array=True),
)


def _members(form: Form, rows: list[tuple[str, Kind, bool]]) -> tuple[Member, ...]:
    """Order the fields as Python wants; a default that can be changed is refused by dataclasses."""
    members = [
        Member(
            name,
            f"the {name}" if form.has_aliases and flag else name,
            kind,
            flag and kind.hashable and kind.default is not None and not form.is_array,
        )
        for name, kind, flag in rows
    ]
    return tuple(sorted(members, key=lambda member: member.is_optional))


def _class_of(form: Form, rows: list[tuple[str, Kind, bool]]) -> Kind:
    members = _members(form, rows)
    body = "\n    ".join([form.head, *(form.member(member) for member in members)])
    name = _name(body)
    shown = "dict" if form.fields is dict else name  # A typed dict is a dict at run time.
    good, misfits = _object(members), _spoiled_object(members)

    def in_a_row(value: dict[str, Any]) -> list[Any]:
        return [value[member.key] for member in members if member.key in value]

    return joined(
        tuple(member.kind for member in members),
        body.replace("NAME", name),
        source=name,
        good=good.map(in_a_row) if form.is_array else good,
        misfits=misfits.map(in_a_row) if form.is_array else misfits,
        takes=frozenset({"array" if form.is_array else "object"}),
        fits=lambda value: type(value).__name__ == shown and _fields_fit(members, form.fields(value)),
        **({"sayable": False} if form.is_array else {}),
    )


def _name(body: str) -> str:
    return f"C{zlib.crc32(body.encode()):08x}"


def _fields_fit(members: tuple[Member, ...], fields: dict[str, Any]) -> bool:
    known = {member.name: member for member in members}
    required = {member.name for member in members if not member.is_optional}
    return required <= fields.keys() <= known.keys() and all(known[name].kind.fits(fields[name]) for name in fields)


def _object(members: tuple[Member, ...], spoiled: Member | None = None) -> Values:
    values = {member: member.bad if member is spoiled else member.kind.good for member in members}
    required = {member.key: value for member, value in values.items() if member is spoiled or not member.is_optional}
    optional = {member.key: value for member, value in values.items() if member.key not in required}
    return st.fixed_dictionaries(required, optional=optional)


def _spoiled_object(members: tuple[Member, ...]) -> Values:
    """Draw an object with one bad field, or without one that is required."""
    bad = [_object(members, member) for member in members]
    short = [_object(tuple(it for it in members if it is not one)) for one in members if not one.is_optional]
    return st.one_of(*bad, *short)


# Classes that contain themselves, in a list or once.
_TREES = (
    "class NAME(BaseModel):\n    value: {}\n    children: list['NAME'] = []",
    "class NAME(BaseModel):\n    value: {}\n    children: list['NAME'] = Field(default_factory=list, max_length=2)",
    "@dataclass\nclass NAME:\n    value: {}\n    children: list['NAME'] = field(default_factory=list)",
    "class NAME(BaseModel):\n    value: {}\n    child: Optional['NAME'] = None",
    "@dataclass\nclass NAME:\n    value: {}\n    child: 'NAME | None' = None",
)


def _tree_of(form: str, item: Kind) -> Kind:
    name = _name(form + item.source)
    key = "child" if "child:" in form else "children"

    def fits(value: Any) -> bool:
        within = getattr(value, key, None) or []
        below = within if isinstance(within, list) else [within]
        return type(value).__name__ == name and item.fits(value.value) and all(map(fits, below))

    leaf = st.fixed_dictionaries({"value": item.good})
    good: Values = st.deferred(lambda: leaf | st.fixed_dictionaries({"value": item.good, key: children}))
    children = st.none() | good if key == "child" else st.lists(good, max_size=2)
    wrong = item.bad_or_null.map(lambda value: {"value": value})
    bad = st.fixed_dictionaries({"value": item.good, key: wrong if key == "child" else wrong.map(lambda it: [it])})
    return joined(
        (item,),
        form.replace("{}", item.source).replace("NAME", name),
        source=name,
        good=good,
        misfits=bad | st.just({key: []}),
        takes=frozenset({"object"}),
        fits=fits,
    )


_TAGGED = """class NAMEa(BaseModel):
    tag: Literal['a']
    value: {}
class NAMEb(BaseModel):
    tag: Literal['b', 'B']
    value: {}"""


def _tagged_of(one: Kind, two: Kind) -> Kind:
    name = _name(one.source + two.source)
    source = f"Annotated[Union[{name}a, {name}b], Field(discriminator='tag')]"

    def fits(value: Any) -> bool:
        kind = {f"{name}a": one, f"{name}b": two}.get(type(value).__name__)
        return kind is not None and kind.fits(value.value)

    def value(tags: Values, inner: Values) -> Values:
        return st.fixed_dictionaries({"tag": tags, "value": inner})

    a, b, unknown = st.just("a"), st.sampled_from("bB"), st.just(MARK)
    return joined(
        (one, two),
        _TAGGED.replace("{}", one.source, 1).replace("{}", two.source, 1).replace("NAME", name),
        source=source,
        good=value(a, one.good) | value(b, two.good),
        misfits=value(a, one.bad_or_null) | value(b, two.bad_or_null) | value(unknown, one.good),
        takes=frozenset({"object"}),
        fits=fits,
    )


def _classes(inner: Kinds) -> Kinds:
    rows = st.lists(
        st.tuples(st.sampled_from(_NAMES), inner, st.booleans()), min_size=1, max_size=3, unique_by=lambda row: row[0]
    )
    return st.one_of(
        st.builds(_class_of, st.sampled_from(_FORMS), rows),
        st.builds(_tree_of, st.sampled_from(_TREES), inner),
        st.builds(_tagged_of, inner, inner),
    )


kinds: Kinds = st.recursive(leaves, lambda inner: containers(inner) | _classes(inner), max_leaves=4)
