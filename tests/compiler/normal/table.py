"""Schemas as others write them, with arguments that fit and some that do not, and what is no schema for us."""

from typing import Any, NamedTuple

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_6 = "http://json-schema.org/draft-06/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
INT: dict[str, Any] = {"type": "integer"}
STR: dict[str, Any] = {"type": "string"}


class Foreign(NamedTuple):
    """A schema, and arguments that it takes and refuses by its own draft."""

    schema: dict[str, Any]
    fitting: list[dict[str, Any]]
    unfit: list[dict[str, Any]]


def take(properties: dict[str, Any], /, **more: Any) -> dict[str, Any]:
    """Write the schema of an object."""
    return {"type": "object", "properties": properties, **more}


def take_early(draft: str, properties: dict[str, Any], /, **more: Any) -> dict[str, Any]:
    """Write it in a draft that it names."""
    return {"$schema": draft, **take(properties, **more)}


TREE = take({"v": INT, "kids": {"type": "array", "items": {"$dynamicRef": "#node"}}}, required=["v"])
ITEM = take({"n": {"$ref": "#/$defs/n"}}, required=["n"])

# true and false as schemas.
BOOLEAN: dict[str, Foreign] = {
    "true": Foreign(take({"payload": True}), [{"payload": 1}, {"payload": None}], []),
    "true_in_any_of": Foreign(take({"p": {"anyOf": [True, STR]}}), [{"p": 1}], []),
    "false_in_any_of": Foreign(take({"p": {"anyOf": [False, STR]}}), [{"p": "x"}], [{"p": 1}]),
    "true_in_all_of": Foreign(take({"p": {"allOf": [True, STR]}}), [{"p": "x"}], [{"p": 1}]),
    "false_in_one_of": Foreign(take({"p": {"oneOf": [False, STR, INT]}}), [{"p": "x"}], [{"p": []}]),
    "items_true": Foreign(take({"p": {"type": "array", "items": True}}), [{"p": [1]}], [{"p": 2}]),
    "items_false": Foreign(take({"p": {"type": "array", "items": False}}), [{"p": []}], [{"p": [2]}]),
    "tuple": Foreign(
        take({"p": {"type": "array", "prefixItems": [True, STR], "items": False}}),
        [{"p": [1, "x"]}],
        [{"p": [1, 2]}, {"p": [1, "x", 3]}],
    ),
    "open_object": Foreign(take({"p": take({}, additionalProperties=True)}), [{"p": {"q": 1}}], [{"p": 1}]),
    "patterns": Foreign(
        take({"p": {"type": "object", "patternProperties": {"^x": False, "^y": True}}}),
        [{"p": {"y": 1}}],
        [{"p": {"x": 1}}],
    ),
    "false": Foreign(take({"a": INT, "b": False}), [{"a": 1}], [{"a": 1, "b": 1}, {"b": None}]),
    "false_of_open": Foreign(take({"a": INT, "b": False}, additionalProperties=True), [{"a": 1}], [{"a": 1, "b": 1}]),
    "false_of_closed": Foreign(take({"a": INT, "b": False}, additionalProperties=False), [{"a": 1}], [{"b": 1}]),
    "false_inside": Foreign(take({"a": take({"b": False, "c": True})}), [{"a": {"c": 1}}], [{"a": {"b": 1, "c": 1}}]),
    "false_in_members": Foreign(
        take({"p": {"anyOf": [take({"x": True, "y": False}), take({"x": False, "y": True})]}}),
        [{"p": {"x": 1}}, {"p": {"y": 1}}],
        [{"p": {"x": 1, "y": 1}}],
    ),
    "never": Foreign(take({"a": INT, "b": {"not": {}}}), [{"a": 1}], [{"a": 1, "b": 1}]),
    "not_true": Foreign(take({"p": {"not": True}}), [{}], [{"p": 1}]),
    "not_false": Foreign(take({"p": {"not": False}}), [{"p": 1}], []),
    "if_true": Foreign(take({"p": {"if": True, "then": STR, "else": False}}), [{"p": "s"}], [{"p": 1}]),
    "contains_true": Foreign(take({"p": {"type": "array", "contains": True}}), [{"p": [1]}], [{"p": []}]),
    "no_names": Foreign(take({"p": {"type": "object", "propertyNames": False}}), [{"p": {}}], [{"p": {"a": 1}}]),
    "dependent": Foreign(take({"a": INT, "b": INT}, dependentSchemas={"a": False}), [{"b": 1}], [{"a": 1}]),
    "definitions": Foreign(
        take(
            {"p": {"$ref": "#/$defs/any"}, "q": {"$ref": "#/$defs/never"}}, **{"$defs": {"any": True, "never": False}}
        ),
        [{"p": 1}],
        [{"q": 1}],
    ),
}
# References by names and addresses that are in the document.
NAMED: dict[str, Foreign] = {
    "anchor": Foreign(
        take({"p": {"$ref": "#A"}}, **{"$defs": {"x": {"$anchor": "A", **INT}}}), [{"p": 1}], [{"p": "x"}]
    ),
    "dynamic_anchor": Foreign(
        {"$dynamicAnchor": "node", **TREE},
        [{"v": 1, "kids": [{"v": 2, "kids": []}]}],
        [{"v": 1, "kids": [{"kids": []}]}, {"v": 1, "kids": [{"v": 1, "kids": [{"v": "x"}]}]}],
    ),
    "extended_tree": Foreign(
        {
            "$id": "http://a.example/strict",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "unevaluatedProperties": False,
            "$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "node", **TREE}},
        },
        [{"v": 1, "kids": [{"v": 2}]}],
        [{"v": 1, "kids": [{"v": 2, "more": 1}]}],
    ),
    "address": Foreign(
        {
            "$id": "http://a.example/root.json",
            **take({"p": {"$ref": "item.json"}, "q": {"$ref": "/item.json#/$defs/n"}}),
            "$defs": {"item": {"$id": "item.json", **ITEM, "$defs": {"n": INT}}},
        },
        [{"p": {"n": 1}, "q": 2}],
        [{"p": {"n": "x"}}, {"q": "x"}],
    ),
    "address_of_no_host": Foreign(
        take({"p": {"$ref": "urn:example:1"}}, **{"$defs": {"x": {"$id": "urn:example:1", **INT}}}),
        [{"p": 1}],
        [{"p": "x"}],
    ),
    "recursive": Foreign(
        take_early(
            DRAFT_2019,
            {"v": INT, "kids": {"type": "array", "items": {"$recursiveRef": "#"}}},
            **{"$recursiveAnchor": True},
        ),
        [{"kids": [{"v": 1}]}],
        [{"kids": [{"v": "x"}]}],
    ),
    "id_of_draft_4": Foreign(
        take_early(
            DRAFT_4,
            {"p": {"$ref": "#pos"}, "q": {"$ref": "s.json"}},
            id="http://a.example/r.json",
            definitions={"a": {"id": "#pos", **INT}, "b": {"id": "s.json", **STR}},
        ),
        [{"p": 1, "q": "a"}],
        [{"p": "x"}, {"q": 1}],
    ),
    "name_of_draft_7": Foreign(
        take_early(DRAFT_7, {"p": {"$ref": "#pos"}}, definitions={"a": {"$id": "#pos", **INT}}),
        [{"p": 1}],
        [{"p": "x"}],
    ),
    "pointer_into_moved": Foreign(
        take_early(DRAFT_7, {"a": {"type": "array", "items": [INT, STR]}, "b": {"$ref": "#/properties/a/items/1"}}),
        [{"b": "x"}],
        [{"b": 1}],
    ),
    "pointer_to_no_keyword": Foreign(
        take_early(
            DRAFT_7,
            {"a": {"$ref": "#/components/schemas/A"}},
            components={
                "schemas": {"A": {"type": "array", "items": [INT, {"$ref": "#/components/schemas/B"}]}, "B": STR}
            },
        ),
        [{"a": [1, "x"]}],
        [{"a": ["x"]}, {"a": [1, 2]}],
    ),
    "escaped": Foreign(
        take({"a": {"$ref": "#/$defs/x~1y%25z%20w"}}, **{"$defs": {"x/y%z w": INT}}), [{"a": 1}], [{"a": "x"}]
    ),
    "loop": Foreign(
        take({"v": INT, "next": {"$ref": "#"}}), [{"next": {"next": {"v": 1}}}], [{"next": {"next": {"v": "x"}}}]
    ),
}
# What earlier drafts write otherwise.
EARLIER: dict[str, Foreign] = {
    "items": Foreign(
        take_early(DRAFT_4, {"p": {"type": "array", "items": [INT, STR]}}),
        [{"p": [1, "a"]}, {"p": [1, "a", None]}],
        [{"p": ["q", "a"]}],
    ),
    "no_more_items": Foreign(
        take_early(DRAFT_6, {"p": {"type": "array", "items": [INT, STR], "additionalItems": False}}),
        [{"p": [1, "a"]}],
        [{"p": [1, "a", None]}],
    ),
    "more_items": Foreign(
        take_early(DRAFT_2019, {"p": {"type": "array", "items": [INT, STR], "additionalItems": INT}}),
        [{"p": [1, "a", 2]}],
        [{"p": [1, "a", "z"]}],
    ),
    "bounds": Foreign(
        take_early(
            DRAFT_4,
            {"p": {**INT, "minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": True}},
        ),
        [{"p": 1}],
        [{"p": 0}, {"p": 9}],
    ),
    "bounds_that_are_none": Foreign(
        take_early(DRAFT_4, {"p": {**INT, "minimum": 0, "exclusiveMinimum": False}}), [{"p": 0}], [{"p": -1}]
    ),
    "dependencies": Foreign(
        take_early(DRAFT_7, {"a": INT, "b": INT, "c": INT}, dependencies={"a": ["b"], "c": {"required": ["a"]}}),
        [{"a": 1, "b": 1}],
        [{"a": 1}, {"c": 1}],
    ),
    "reference_at_the_root": Foreign(
        {"$schema": DRAFT_7, "$ref": "#/definitions/T", "definitions": {"T": take({"p": INT}, required=["p"])}},
        [{"p": 1}],
        [{"p": "x"}, {}],
    ),
    "beside_a_reference": Foreign(
        take_early(
            DRAFT_7, {"p": {"$ref": "#/definitions/T", "description": "It.", "type": "string"}}, definitions={"T": INT}
        ),
        [{"p": 1}],
        [{"p": "x"}],
    ),
}
# What looks like a keyword and is a name or a value.
NO_KEYWORDS: dict[str, Foreign] = {
    "names": Foreign(
        take(
            {
                **dict.fromkeys(("$ref", "$id", "$schema", "$anchor", "definitions", "enum", "not"), STR),
                **dict.fromkeys(("items", "id", "properties", "const"), INT),
            },
            required=["$ref"],
        ),
        [{"$ref": "x", "id": 1, "items": 2}],
        [{"$ref": 1}],
    ),
    "values": Foreign(
        take(
            {
                "p": {"enum": [{"$ref": "http://127.0.0.1:9/y"}, True, False, None, {"items": [1]}]},
                "q": {"const": {"$id": "x", "properties": {"a": True}}},
                "r": {"examples": [{"$ref": "a"}], "x-own": {"$ref": "b"}},
            }
        ),
        [{"p": {"$ref": "http://127.0.0.1:9/y"}}, {"q": {"$id": "x", "properties": {"a": True}}}],
        [{"p": {"a": 1}}],
    ),
}
TABLE = BOOLEAN | NAMED | EARLIER | NO_KEYWORDS

# Each names a document elsewhere, at the host ELSEWHERE, or nothing: as a property `p`, and the words that say so.
ELSEWHERE = "//127.0.0.1:9"
_ADDRESS = f"http:{ELSEWHERE}/x.json"
_FOREIGN = "which is another document, and none is fetched"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "http": ({"$ref": _ADDRESS}, f"`properties.p.$ref` refers to {_ADDRESS}, {_FOREIGN}"),
    "part": ({"$ref": f"{_ADDRESS}#/a"}, f"`properties.p.$ref` refers to {_ADDRESS}#/a, {_FOREIGN}"),
    "file": ({"$ref": "file:///etc/passwd"}, f"`properties.p.$ref` refers to file:///etc/passwd, {_FOREIGN}"),
    "relative": ({"$ref": "other.json"}, f"`properties.p.$ref` refers to other.json, {_FOREIGN}"),
    "host": ({"$ref": "//127.0.0.1:9/x"}, f"`properties.p.$ref` refers to //127.0.0.1:9/x, {_FOREIGN}"),
    "encoded": ({"$ref": "http%3A//127.0.0.1:9/x"}, f"refers to http%3A//127.0.0.1:9/x, {_FOREIGN}"),
    "other_scheme": ({"$ref": "ftp://127.0.0.1:9/x"}, _FOREIGN),
    "dynamic": ({"$dynamicRef": f"{_ADDRESS}#n"}, f"`properties.p.$dynamicRef` refers to {_ADDRESS}#n, {_FOREIGN}"),
    "recursive": ({"$recursiveRef": _ADDRESS}, f"`properties.p.$recursiveRef` refers to {_ADDRESS}, {_FOREIGN}"),
    "by_base": (
        {"$id": f"http:{ELSEWHERE}/b/", "properties": {"z": {"$ref": "x.json"}}},
        f"`properties.p.properties.z.$ref` refers to x.json, {_FOREIGN}",
    ),
    "any_of": ({"anyOf": [STR, {"$ref": _ADDRESS}]}, "`properties.p.anyOf[1].$ref` refers"),
    "items": ({"items": [{"$ref": _ADDRESS}]}, "`properties.p.items[0].$ref` refers"),
    "additional_items": (
        {"items": [STR], "additionalItems": {"$ref": _ADDRESS}},
        "`properties.p.additionalItems.$ref`",
    ),
    "dependencies": ({"dependencies": {"a": {"$ref": _ADDRESS}}}, "`properties.p.dependencies.a.$ref` refers"),
    "content": ({"contentSchema": {"$ref": _ADDRESS}}, "`properties.p.contentSchema.$ref` refers"),
    "unused": ({"$defs": {"u": {"$ref": _ADDRESS}}}, "`properties.p.$defs.u.$ref` refers"),
    "nothing": ({"$ref": "#/$defs/nope"}, "`properties.p.$ref` refers to #/$defs/nope, where there is nothing"),
    "nobody": ({"$ref": "#nope"}, "`properties.p.$ref` refers to #nope, where there is nothing"),
    "no_text": ({"$ref": 5}, "`properties.p.$ref` is no text"),
    "no_address": ({"$ref": "http://[::1/x"}, "`properties.p.$ref` is no address"),
    "no_schema": ({"type": "string", "x": 1, "anyOf": [{"$ref": "#/properties/p/x"}]}, "which is no schema"),
    "ambiguous": (
        {
            "anyOf": [{"$ref": "one"}, {"$ref": "two"}],
            "$defs": {
                "one": {"$id": "one", "$ref": "list", "$defs": {"i": {"$dynamicAnchor": "item", **STR}}},
                "two": {"$id": "two", "$ref": "list", "$defs": {"i": {"$dynamicAnchor": "item", **INT}}},
                "list": {"$id": "list", "items": {"$dynamicRef": "#item"}, "$defs": {"i": {"$dynamicAnchor": "item"}}},
            },
        },
        "of which there are several, and which one depends on the way there",
    ),
}
