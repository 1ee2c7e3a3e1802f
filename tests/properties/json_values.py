"""Draw JSON values: any at all, or those that a JSON Schema allows."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

import jsonschema_rs
from hypothesis import strategies as st

Schema = dict[str, Any]
Values = st.SearchStrategy[Any]

# Text that looks like something else to a careless reader.
_TRAPS = ["", " ", "null", "true", "1", "-0", "NaN", "{}", "[]", '{"a": 1}', "[1]", '"', "```", "\\", "\n", "é😀", "\0"]


def texts(least: int = 0, most: int = 12) -> st.SearchStrategy[str]:
    """Draw text that UTF-8 can say."""
    plain = st.text(st.characters(codec="utf-8"), min_size=least, max_size=max(least, most))
    traps = [text for text in _TRAPS if least <= len(text) <= most]
    return plain | st.sampled_from(traps) if traps else plain


numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts()
any_json: Values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3), max_leaves=6
)


def allowed_by(schema: Schema) -> Values:
    """Draw what a schema of the kind that this server advertises allows."""
    return _Reader(schema).values(schema)


class _Reader:
    """Know the root schema, which references point into."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._known: dict[str, Values] = {}

    def values(self, schema: Schema) -> Values:
        """Draw what this part of the schema allows."""
        if "$ref" in schema:
            return self._referred(schema["$ref"])
        if "const" in schema or "enum" in schema:
            return st.sampled_from(schema.get("enum", [schema.get("const")]))
        options = schema.get("anyOf", schema.get("oneOf"))
        if options is not None:
            return st.one_of([self.values(option) for option in options])
        kind = schema.get("type")
        if kind is None:
            return any_json
        if isinstance(kind, list):
            return st.one_of([self.values({**schema, "type": one}) for one in kind])
        return self._typed(kind, schema)

    def _referred(self, reference: str) -> Values:
        name = reference.removeprefix("#/$defs/")
        if name not in self._known:
            self._known[name] = st.deferred(lambda: self.values(self._root["$defs"][name]))
        return self._known[name]

    def _typed(self, kind: str, schema: Schema) -> Values:
        drawers: dict[str, Callable[[Schema], Values]] = {
            "null": lambda _: st.none(),
            "boolean": lambda _: st.booleans(),
            "integer": _integers,
            "number": _numbers,
            "string": _strings,
            "array": self._arrays,
            "object": self._objects,
        }
        return drawers[kind](schema)

    def _arrays(self, schema: Schema) -> Values:
        if "prefixItems" in schema:
            return st.tuples(*(self.values(item) for item in schema["prefixItems"])).map(list)
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if most == 0:
            return st.just([])
        return st.lists(
            self.values(schema.get("items", {})),
            min_size=least,
            max_size=least + 3 if most is None else most,
            unique_by=_identity if schema.get("uniqueItems") else None,
        )

    def _objects(self, schema: Schema) -> Values:
        properties = {name: self.values(value) for name, value in schema.get("properties", {}).items()}
        required = {name: properties.pop(name) for name in schema.get("required", ())}
        named = st.fixed_dictionaries(required, optional=properties)
        free = schema.get("additionalProperties", True)
        if free is False:
            return named
        # An open object is only told names that nobody could mean something by.
        names = texts() if isinstance(free, dict) else texts().map(lambda text: f"unknown {text}")
        others = st.dictionaries(
            names.filter(lambda name: name not in schema.get("properties", {})),
            self.values(free if isinstance(free, dict) else {}),
            min_size=schema.get("minProperties", 0),
            max_size=schema.get("maxProperties", 2),
        )
        return st.builds(lambda one, two: {**two, **one}, named, others)


def _identity(value: Any) -> str:
    """Tell values apart as JSON does, for which 1 and 1.0 are the same number."""
    return json.dumps(_rounded(value), sort_keys=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _integers(schema: Schema) -> Values:
    step = schema.get("multipleOf", 1)
    least = schema.get("minimum", schema.get("exclusiveMinimum", -(2**70) - 1) + 1)
    most = schema.get("maximum", schema.get("exclusiveMaximum", 2**70 + 1) - 1)
    found = st.integers(math.ceil(least / step), math.floor(most / step)).map(lambda number: number * step)
    # A float that is a whole number is an integer to JSON Schema; beyond these it may be another one.
    return found | found.map(lambda number: float(number) if abs(number) < 2**53 else number)


def _numbers(schema: Schema) -> Values:
    least = schema.get("minimum", schema.get("exclusiveMinimum"))
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    if "multipleOf" in schema:
        return st.integers(-1000, 1000).map(lambda number: number * schema["multipleOf"])
    floats = st.floats(
        least,
        most,
        exclude_min="exclusiveMinimum" in schema,
        exclude_max="exclusiveMaximum" in schema,
        allow_nan=False,
        allow_infinity=False,
    )
    return floats | floats.map(math.trunc).filter(jsonschema_rs.validator_for(schema).is_valid)


def _strings(schema: Schema) -> Values:
    if "pattern" in schema:
        found = st.from_regex(re.compile(schema["pattern"], re.ASCII), alphabet=st.characters(codec="utf-8"))
        return found.filter(jsonschema_rs.validator_for(schema).is_valid)
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    least = schema.get("minLength", 0)
    return texts(least, schema.get("maxLength", least + 12))


_offsets = st.sampled_from(["Z", "z", "+00:00", "-00:00", "+05:30", "-11:59"])
_dates = st.dates().map(str)
_times = st.builds(lambda time, offset: f"{time.isoformat()}{offset}", st.times(), _offsets)
_durations = st.sampled_from(["P1D", "PT1H", "PT0.5S", "P2W", "P1Y2M", "P3DT4H5M6S", "PT36H", "P0D", "P1Y"])
_FORMATS: dict[str, Values] = {
    "date": _dates,
    "time": _times,
    "date-time": st.builds(lambda date, time, sep: f"{date}{sep}{time}", _dates, _times, st.sampled_from("Tt ")),
    "duration": _durations,
    "uuid": st.uuids().map(str) | st.uuids().map(lambda uuid: str(uuid).upper()),
}
