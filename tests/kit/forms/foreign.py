"""Schemas that pydantic does not write, as MCP servers and OpenAPI documents have them, with values as JSON text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Foreign:
    """A schema of all arguments, values for it, and the kinds of fields that an empty form begins with."""

    name: str
    schema: str
    values: tuple[str, ...]
    begins: str


def _foreign(name: str, schema: str, begins: str, *values: str) -> Foreign:
    return Foreign(name, schema, values, begins)


def _of(value: str, rest: str = "") -> str:
    return f'{{"type": "object", "properties": {{"value": {value}}}, "required": ["value"]{rest}}}'


_JSON = ('{"value": 1}', '{"value": {"a": [null]}}', '{"value": "x"}', "{}")

_MANY = [f'{{"const": {number}}}' for number in range(1000)]

FOREIGN = (
    _foreign("nothing said", "{}", "json", "1", "[]", '{"a": 1}', '"x"', "null"),
    _foreign("anything", "true", "json", '{"a": 1}'),
    _foreign("no members", '{"type": "object"}', "", "{}", '{"a": 1, "b": "x"}'),
    _foreign("closed and empty", '{"type": "object", "additionalProperties": false}', "", "{}", '{"a": 1}'),
    _foreign("a text alone", '{"type": "string"}', "textarea", '"x"', "1", "null", "[]"),
    _foreign("types", _of('{"type": ["string", "null", "integer"]}'), "select textarea", *_JSON, '{"value": null}'),
    _foreign(
        "nullable", _of('{"type": "integer", "nullable": true}'), "select number", '{"value": null}', '{"value": 3}'
    ),
    _foreign(
        "types with a list",
        _of('{"type": ["string", "null"], "enum": ["a", "null", null]}'),
        "select select",
        '{"value": "null"}',
        '{"value": null}',
        '{"value": "b"}',
    ),
    _foreign(
        "typeless enum",
        _of('{"enum": ["a", 1, {"b": [2]}, null, false]}'),
        "select",
        '{"value": {"b": [2]}}',
        '{"value": false}',
    ),
    _foreign("empty enum", _of('{"enum": []}'), "json", *_JSON),
    _foreign("constant object", _of('{"const": {"a": 1.0}}'), "", '{"value": {"a": 1.0}}', '{"value": {"a": 1}}', "{}"),
    _foreign("nothing allowed", _of("false"), "json", *_JSON),
    _foreign("unknown type", _of('{"type": "file"}'), "json", *_JSON),
    _foreign("bounds alone", _of('{"minimum": 3}'), "json", *_JSON),
    _foreign("not", _of('{"not": {"type": "null"}}'), "json", *_JSON),
    _foreign(
        "all of objects",
        '{"allOf": [{"$ref": "#/definitions/a"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],'
        ' "definitions": {"a": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}}',
        "textarea number",
        '{"a": "", "b": 1}',
        '{"b": 1}',
        '{"a": "x", "c": [1]}',
    ),
    _foreign(
        "all of numbers",
        _of('{"allOf": [{"type": "number"}, {"type": "integer", "minimum": 3}]}'),
        "number",
        '{"value": 4}',
    ),
    _foreign("all of what excludes itself", _of('{"allOf": [{"type": "string"}, {"type": "array"}]}'), "json", *_JSON),
    _foreign(
        "all of unions",
        _of('{"allOf": [{"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "null"}]}]}'),
        "json",
        *_JSON,
    ),
    _foreign("any and one of", _of('{"anyOf": [{"type": "string"}], "oneOf": [{"type": "null"}]}'), "json", *_JSON),
    _foreign(
        "one of what is required",
        '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},'
        ' "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}',
        "textarea textarea",
        '{"a": "x"}',
        '{"b": ""}',
        "{}",
    ),
    _foreign(
        "members beside variants",
        '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],'
        ' "oneOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]},'
        ' {"properties": {"c": {"type": "string"}}, "required": ["c"]}]}',
        "select textarea textarea",
        '{"a": "x", "b": "y"}',
        '{"a": "x", "c": "y"}',
        '{"a": "x"}',
    ),
    _foreign(
        "discriminator without constants",
        _of(
            '{"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],'
            ' "discriminator": {"propertyName": "pet", "mapping": {"c": "#/components/schemas/Cat",'
            ' "d": "#/components/schemas/Dog"}}}',
            ', "components": {"schemas": {"Cat": {"type": "object", "required": ["pet"],'
            ' "properties": {"pet": {"type": "string"}}},'
            ' "Dog": {"type": "object", "required": ["pet"], "properties": {"pet": {"type": "string"},'
            ' "n": {"type": "integer"}}}}}',
        ),
        "select",
        '{"value": {"pet": "c"}}',
        '{"value": {"pet": "d", "n": 1}}',
        '{"value": {"pet": "x"}}',
        '{"value": {"n": 1}}',
    ),
    _foreign(
        "tuple of older drafts",
        _of('{"type": "array", "items": [{"type": "string"}], "minItems": 1}'),
        "textarea",
        '{"value": ["x"]}',
        '{"value": ["x", 1]}',
    ),
    _foreign(
        "array of anything", _of('{"type": "array"}'), "", '{"value": [1, "x", null]}', '{"value": []}', '{"value": {}}'
    ),
    _foreign("items alone", _of('{"items": {"type": "integer"}}'), "", '{"value": [1]}', '{"value": "x"}'),
    _foreign(
        "patterns",
        '{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false,'
        ' "patternProperties": {"^x-": {"type": "integer"}, "^y-": {"type": "boolean"}}}',
        "textarea",
        '{"x-1": 2, "y-1": true, "a": ""}',
        '{"x-1": "two", "z": []}',
    ),
    _foreign(
        "the root within",
        '{"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "integer"}}}',
        "number",
        '{"a": {"a": {"b": 1}}}',
        "{}",
    ),
    _foreign(
        "itself without end", _of('{"$ref": "#/$defs/a"}', ', "$defs": {"a": {"$ref": "#/$defs/a"}}'), "json", *_JSON
    ),
    _foreign(
        "what needs itself",
        '{"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/a"},'
        ' "c": {"$ref": "#/$defs/a"}}, "required": ["b", "c"]}}}',
        "select json select json",
        '{"b": {"b": {}, "c": 1}, "c": {}}',
        "{}",
    ),
    _foreign("a reference to nothing", _of('{"$ref": "https:/example.org/a.json"}'), "json", *_JSON),
    _foreign("a reference that is no address", _of('{"$ref": "#/a%zz/~2"}'), "json", *_JSON),
    _foreign(
        "a reference with signs",
        '{"$ref": "#/$defs/a~1b%20~0", "$defs": {"a/b ~": {"type": "string"}}}',
        "textarea",
        '"x"',
    ),
    _foreign(
        "nonsense",
        '{"type": "object", "properties": {"a": null, "b": 3, "c": {"type": 5, "title": [], "description": {},'
        ' "required": true, "enum": "x", "anyOf": {}},'
        ' "d": {"type": "array", "items": 3, "minItems": "x", "prefixItems": {}}, "e": {"type": "string",'
        ' "format": 3, "pattern": [], "examples": "x"}},'
        ' "required": "a"}',
        "json json json textarea",
        '{"a": 1, "b": 2, "c": 3, "d": [4], "e": "5"}',
        "{}",
    ),
    _foreign("a reference that is no text", _of('{"anyOf": [{"$ref": 3}, {"type": "string"}]}'), "json", *_JSON),
    _foreign("names of functions", _of('{"type": "string", "format": "constructor"}'), "textarea", '{"value": "x"}'),
    _foreign("a thousand kinds", _of(f'{{"anyOf": [{", ".join(_MANY)}]}}'), "json", *_JSON),
    _foreign(
        "kinds without end",
        _of(
            '{"$ref": "#/$defs/a"}',
            ', "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"items": {"$ref": "#/$defs/a"}}]},'
            ' "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}',
        ),
        "select json",
        *_JSON,
    ),
    _foreign(
        "odd names",
        '{"type": "object", "properties": {"__proto__": {"type": "object",'
        ' "properties": {"constructor": {"type": "integer"}}},'
        ' "constructor": {"type": "string"}, "toString": {"$ref": "#/$defs/__proto__"}},'
        ' "$defs": {"__proto__": {"type": "boolean"}}}',
        "textarea select",
        '{"__proto__": {"constructor": 1}, "constructor": "x", "toString": true}',
        "{}",
        '{"hasOwnProperty": 1, "valueOf": 2}',
    ),
    _foreign(
        "big numbers",
        _of('{"enum": [12345678901234567890, 12345678901234567891]}'),
        "select",
        '{"value": 12345678901234567891}',
        '{"value": 12345678901234567892}',
    ),
    _foreign(
        "counts as floats",
        _of('{"type": "array", "items": {"type": "integer"}, "minItems": 1.0, "maxItems": 2e0}'),
        "number",
        '{"value": [1]}',
    ),
    _foreign(
        "conditions",
        '{"type": "object", "properties": {"a": {"type": "boolean"}}, "if": {"required": ["a"]},'
        ' "then": {"required": ["b"]}}',
        "select",
        '{"a": true, "b": 1}',
    ),
    _foreign(
        "json in a text",
        _of('{"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "array"}}'),
        "textarea",
        '{"value": "[1, 2]"}',
    ),
)
