"""Describe in a few words what a JSON Schema accepts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.all_of import join, join_all
from sidecall.kernel.schema.references import ANNOTATIONS

# What the names of formats mean, with an example that every one of our validators takes.
FORMATS: Mapping[str, str] = {
    "date": "a date as YYYY-MM-DD, such as 2026-03-14",
    "date-time": "a date and time as YYYY-MM-DDTHH:MM:SSZ, such as 2026-03-14T15:09:26Z",
    "time": "a time as HH:MM:SS, such as 15:09:26",
    "duration": "a duration as in ISO 8601, such as PT1H30M",
    "uuid": "a UUID, such as 123e4567-e89b-42d3-a456-426614174000",
    "email": "an e-mail address, such as ada@example.com",
    "uri": "a URL, such as https://example.com/page",
    "hostname": "a host name, such as www.example.com",
    "ipv4": "an IPv4 address, such as 192.0.2.1",
    "ipv6": "an IPv6 address, such as 2001:db8::1",
    "regex": "a regular expression, such as ^[a-z]+$",
    "json-pointer": "a JSON pointer, such as /items/0",
    "relative-json-pointer": "a relative JSON pointer, such as 1/name",
    "uri-reference": "a URL or the end of one, such as /page?id=1",
    "uri-template": "a URI template, such as /items/{id}",
    "iri": "a URL, such as https://example.com/page",
    "iri-reference": "a URL or the end of one, such as /page?id=1",
    "idn-email": "an e-mail address, such as ada@example.com",
    "idn-hostname": "a host name, such as www.example.com",
    "json-string": "JSON text",
    "base64": "base64, such as aGVsbG8=",
    "base64url": "base64url, such as aGVsbG8=",
}
# What is said where a schema takes no value.
NOTHING = "left out, since nothing may be sent here"
ANYTHING = "any value"
# Made once: json.dumps makes an encoder at every call.
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
# Values and keys that are listed in a sentence.
MOST_LISTED = 20
_MOST_WORDS = 120
_ARTICLES = {
    "finite": "a",
    "integer": "an",
    "number": "a",
    "decimal": "a",
    "string": "a",
    "boolean": "a",
    "array": "an",
    "object": "an",
}


def describe(schema: Schema) -> str:
    """Describe what a schema accepts: `integer, at least 1`, `one of "a", "b"`."""
    if "enum" in schema:
        return describe_choice(schema["enum"])
    if "const" in schema:
        return write_literal(schema["const"])
    if "allOf" in schema:
        return describe(join_all(schema))
    options = schema.get("anyOf") or schema.get("oneOf") or ()
    if options and not list_needed(options):
        return describe_options(schema, options)
    return "object" if "$ref" in schema else _describe_plainly(schema, list_needed(options))


def _describe_plainly(schema: Schema, needed: Sequence[Sequence[str]]) -> str:
    denied_twice = schema["not"].get("not") if isinstance(schema.get("not"), dict) else None
    if isinstance(denied_twice, dict) and len(schema["not"]) == 1:  # It is wanted, then.
        rest = {key: value for key, value in schema.items() if key != "not"}
        return describe(join(rest, denied_twice))
    denied = _describe_denied(schema)
    if denied == NOTHING:
        return NOTHING
    words = [_describe_type(schema), *describe_bounds(schema), *([denied] if denied else [])]
    if words[0] == ANYTHING and denied.startswith("not "):
        words = [f"anything but {denied.removeprefix('not ')}"]
    if needed:
        words.append(f"with {join_choices(needed)}")
    if schema.get("examples"):
        words.append(f"such as {write_literal(schema['examples'][0])}")
    return ", ".join(words)


# What stands in a choice and is no rule of its members.
_OF_CHOICES = ANNOTATIONS | {"anyOf", "oneOf", "discriminator"}


def describe_options(schema: Schema, options: Sequence[Any]) -> str:
    """Describe the options of a choice, each with the shared rules."""
    shared = {key: value for key, value in schema.items() if key not in _OF_CHOICES}
    each = [
        join_all({"allOf": [option, shared]}) if shared else option for option in options if isinstance(option, dict)
    ]
    return ANYTHING if True in options else " or ".join(dict.fromkeys(map(describe, each))) or NOTHING


def add_article(words: str) -> str:
    """Add an article to a text that begins with a type's name."""
    article = _ARTICLES.get(words.partition(" ")[0].rstrip(","))
    return f"{article} {words}" if article else words


def list_needed(options: Sequence[Any]) -> list[list[str]]:
    """List the required names of each schema, if they say nothing else."""
    found = [list(it["required"]) for it in options if isinstance(it, dict) and _only_requires(it)]
    return found if found and len(found) == len(options) else []


def _only_requires(schema: Schema) -> bool:
    return bool(schema.get("required")) and schema.keys() <= {"required", "description", "title", "type"}


def join_choices(needed: Sequence[Sequence[str]]) -> str:
    """Format alternatives of required names: `route or file`, `a and b, or c`."""
    between = ", or " if any(len(names) > 1 for names in needed) else " or "
    return between.join(dict.fromkeys(" and ".join(names) for names in needed))


def describe_choice(values: Sequence[Any]) -> str:
    """Format the values of a choice, up to a maximum."""
    if not values:
        return NOTHING
    if len(values) == 1:
        return write_literal(values[0])
    more = f", … ({len(values)} in all)" if len(values) > MOST_LISTED else ""
    return "one of " + ", ".join(write_literal(value) for value in values[:MOST_LISTED]) + more


def list_keys(schema: Schema) -> str:
    """Format the keys of an object as `{hour, minute?}`; a single key is shown with its value."""
    required = schema.get("required", ())
    properties = {
        **schema.get("properties", {}),
        **{name: {} for name in required if name not in schema.get("properties", {})},
    }
    names = [
        f"{name}{_write_only_value(value)}" + ("" if name in required else "?") for name, value in properties.items()
    ]
    more = ["…"] if len(names) > MOST_LISTED else []
    return "{" + ", ".join([*names[:MOST_LISTED], *more]) + "}"


def _write_only_value(schema: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    return f": {write_literal(values[0])}" if len(values) == 1 else ""


# The keywords that hold for values of one type only.
_OF_TYPES = {
    "number": frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()),
    "string": frozenset("minLength maxLength pattern format".split()),
    "array": frozenset("items prefixItems minItems maxItems uniqueItems contains unevaluatedItems".split()),
    "object": frozenset(
        "properties required minProperties maxProperties propertyNames patternProperties additionalProperties"
        " dependentRequired dependentSchemas unevaluatedProperties".split()
    ),
}


def find_type(schema: Schema) -> Any:
    """Return the type that a schema names or implies by its keywords, or None."""
    if "type" in schema:
        return schema["type"]
    return next((kind for kind, keywords in _OF_TYPES.items() if schema.keys() & keywords), None)


def find_text(schema: Schema) -> str | None:
    """Return the name of the only argument if it is a string; None where a text cannot be the arguments."""
    properties = schema.get("properties", {})
    if len(properties) != 1:
        return None
    (name, said), *_ = properties.items()
    return name if said.get("type") == "string" else None


def _describe_type(schema: Schema) -> str:
    kind = find_type(schema) or ANYTHING
    kinds = [it for it in kind if it != "null"] if isinstance(kind, list) else []
    if len(kinds) == 1:
        return f"{_describe_type({**schema, 'type': kinds[0]})} or null"
    text = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if kind == "array":
        return _describe_array(schema)
    if kind == "object" and (schema.get("properties") or schema.get("required")):
        return f"object {list_keys(schema)}"
    if kind == "string" and schema.get("contentMediaType") == "application/json":
        return "JSON text" + (f" of {describe(schema['contentSchema'])}" if schema.get("contentSchema") else "")
    form = schema.get("format")
    if form is None:
        return text
    return FORMATS.get(form, f"{text} ({form})") if kind == "string" else f"{text} ({form})"


def _describe_array(schema: Schema) -> str:
    unique = "array without repeated items" if schema.get("uniqueItems") else "array"
    if schema.get("prefixItems"):
        rest = schema.get("items", schema.get("unevaluatedItems"))
        more = [f"any number of {describe(rest)}"] if isinstance(rest, dict) and rest else []
        return f"{unique} of " + ", then ".join([*map(_describe_item, schema["prefixItems"]), *more])
    items = schema.get("items")
    return f"{unique} of {_describe_item_type(items)}" if isinstance(items, dict) and items else unique


def _describe_item(schema: Any) -> str:
    return describe(schema) if isinstance(schema, dict) else ANYTHING


def _describe_item_type(schema: Schema) -> str:
    """Describe the items of an array, without its own bounds; options keep theirs."""
    return describe(schema) if _is_choice(schema) else _describe_type(schema)


def _is_choice(schema: Schema) -> bool:
    return bool(schema.keys() & {"enum", "const", "anyOf", "oneOf", "allOf", "$ref", "not", "examples"})


_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "greater than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}
_COUNTS = (
    ("minLength", "maxLength", "character"),
    ("minItems", "maxItems", "item"),
    ("minProperties", "maxProperties", "key"),
)


_BOUNDING = frozenset(
    {*_BOUNDS, *(key for low, high, _ in _COUNTS for key in (low, high))}.union(
        "pattern contains items prefixItems unevaluatedItems propertyNames patternProperties".split()
    )
)


def describe_bounds(schema: Schema) -> list[str]:
    """List a schema's bounds besides its type: `at least 1`, `matching ^a`, `each at most 9`."""
    if schema.keys().isdisjoint(_BOUNDING):
        return []
    said = [f"{phrase} {schema[key]}" for key, phrase in _BOUNDS.items() if key in schema]
    for low, high, noun in _COUNTS:
        if schema.get("format") != "uri":
            said += _describe_count(schema.get(low), schema.get(high), noun)
    if "pattern" in schema:
        said.append(_describe_pattern(schema))
    return [*said, *_describe_rest(schema), *_describe_contents(schema), *_describe_keys(schema)]


def _describe_count(low: Any, high: Any, noun: str) -> list[str]:
    if low is not None and low == high:
        return [f"exactly {count(low, noun)}"]
    bounds = [("at least", low), ("at most", high)]
    return [f"{phrase} {count(number, noun)}" for phrase, number in bounds if number is not None]


def count(number: Any, noun: str) -> str:
    """Format a count: `1 item`, `3 items`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def limit_items(most: int) -> str:
    """Format the maximum number of an array's items."""
    return f"at most {count(most, 'item')}" if most else "no items"


def _describe_rest(schema: Schema) -> list[str]:
    """Describe the items after `prefixItems`, or that there may be none."""
    items = schema.get("items", schema.get("unevaluatedItems"))
    if items is False and "maxItems" not in schema and schema.get("prefixItems"):
        return [limit_items(len(schema["prefixItems"]))]
    if not isinstance(items, dict) or "prefixItems" in schema or _is_choice(items):
        return []
    bounds = describe_bounds(items)
    return [f"each {' and '.join(bounds)}"] if bounds else []


def _describe_contents(schema: Schema) -> list[str]:
    if "contains" not in schema:
        return []
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    number = f"at least {least}" if most is None else f"at most {most}" if not least else f"{least} to {most}"
    number = f"exactly {most}" if least == most else number
    is_one = (least if most is None else most) == 1
    nouns = "item of which is" if is_one else "items of which are"
    return [f"{number} {nouns} {add_article(_describe_item(schema['contains']))}"]


def _describe_keys(schema: Schema) -> list[str]:
    names = schema.get("propertyNames")
    if isinstance(names, dict) and names:
        return [f"each key {', '.join(describe_bounds(names)) or describe(names)}"]
    patterns = schema.get("patternProperties", {})
    if patterns and schema.get("additionalProperties") is False and not schema.get("properties"):
        return [f"each key matching {' or '.join(patterns)}"]
    return []


def _describe_denied(schema: Schema) -> str:
    """Describe what a schema's `not` excludes; empty if nothing."""
    denied = schema.get("not")
    if denied is None or denied is False:
        return ""
    if denied is True or denied == {"not": False} or not denied.keys() - {"description", "title"}:
        return NOTHING
    return _deny(denied, find_type(schema))


def _deny(denied: Schema, kind: Any) -> str:
    options = denied.get("anyOf", ())
    if options:
        said = list(dict.fromkeys(_deny(it, kind) for it in options if isinstance(it, dict)))
        are_values = all(it.startswith("not ") for it in said)
        return f"not {' or '.join(it.removeprefix('not ') for it in said)}" if are_values else " and ".join(said)
    if _only_requires(denied):
        return f"without {' and '.join(denied['required'])}" + (" together" if len(denied["required"]) > 1 else "")
    if len(denied.get("enum", ())) > 1:
        return f"none of {describe_choice(denied['enum']).removeprefix('one of ')}"
    bounds = describe_bounds(denied)
    is_alike = kind == find_type(denied) or (kind == "integer" and find_type(denied) == "number")
    if bounds and is_alike and not _is_choice(denied):
        return f"not {' and '.join(bounds)}"
    return f"not {add_article(describe(denied))}"


def _describe_pattern(schema: Schema) -> str:
    """Describe a pattern, in its author's words if there are any."""
    words = str(schema.get("description", "")).partition("\n")[0]
    shown = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
    is_said = shown and not shown.endswith(":")  # Which announces what is not shown here.
    return f"matching {schema['pattern']}" + (f" ({shown.rstrip('.')})" if is_said else "")


def write_literal(value: Any) -> str:
    """Format a value as JSON."""
    return _encode(value)
