"""Names of arguments that Anthropic's API refuses, and what takes their place."""

import re
from collections.abc import Mapping

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.suggest.fuzzy_match import find_same

_LONGEST = 64

_REFUSED = re.compile(r"[^a-zA-Z0-9_.-]+")
# The pattern of names; whether it holds for nested objects is not documented.
KEY = re.compile(rf"[a-zA-Z0-9_.-]{{1,{_LONGEST}}}")


def choose_keys(schema: Schema) -> Mapping[str, str]:
    """Choose replacements for argument names that the API refuses.

    Only names that are read back unambiguously, since they differ in separators alone: `filter[name]` is listed as
    `filter_name`. Names in other alphabets, and those of objects with free keys, are unchanged.
    """
    names = schema.get("properties", {})
    if schema.get("additionalProperties", False) is not False:
        return {}
    chosen = {name: _REFUSED.sub("_", name).strip("_") for name in names if not KEY.fullmatch(name)}
    return {name: key for name, key in chosen.items() if KEY.fullmatch(key) and find_same(key, names) == [name]}


def rename_arguments(schema: Schema) -> Schema:
    """Copy an arguments schema with the chosen names."""
    chosen = choose_keys(schema)
    if not chosen:
        return schema
    written = {**schema, "properties": {chosen.get(name, name): it for name, it in schema["properties"].items()}}
    if "required" in schema:
        written["required"] = [chosen.get(name, name) for name in schema["required"]]
    return written
