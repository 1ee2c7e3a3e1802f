"""Render models of pydantic 1 in current JSON Schema."""

import math
import warnings
from typing import Any

from pydantic_core import to_jsonable_python

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.shape import strip_titles
from sidecall.kernel.schema.walk import map_children


def render_v1_schema(model: Any) -> Schema:
    """Render the JSON Schema of a pydantic 1 model, without titles.

    Raises:
        ValueError: A field's type cannot be said in JSON Schema.
        TypeError: A field's default cannot be said in JSON.
    """
    with warnings.catch_warnings():
        # A field that takes a function is left out with a warning; whether that matters, the caller knows.
        warnings.simplefilter("ignore", UserWarning)
        schema: Schema = to_jsonable_python(model.schema(ref_template="#/$defs/{model}"))
    definitions = {"$defs": schema["definitions"]} if "definitions" in schema else {}
    rest = {key: value for key, value in schema.items() if key != "definitions"}
    return _modernize(strip_titles({**rest, **definitions}))


def _modernize(node: Schema) -> Schema:
    if len(parts := node.get("allOf", ())) == 1:
        # How pydantic 1 adds a description or a default to a reference.
        node = {**parts[0], **{key: value for key, value in node.items() if key != "allOf"}}
    if isinstance(node.get("items"), list):
        node = {("prefixItems" if key == "items" else key): value for key, value in node.items()}
    default = node.get("default")
    if isinstance(default, float) and not math.isfinite(default):
        node = {key: value for key, value in node.items() if key != "default"}
    return map_children(node, _modernize)
