"""Headers of MCP that repeat an argument, as schemas name them."""

import re
from collections.abc import Iterator, Mapping

from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.tool import ArgsSchema, Schema
from sidecall.kernel.schema.references import list_schemas, map_children

# The keyword of MCP with which a parameter's schema names its header.
_KEYWORD = "x-mcp-header"

_PREFIX = "mcp-param-"

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

_TYPES = ("string", "integer", "boolean")


def find_mirrored(where: str, schema: ArgsSchema) -> Mapping[bytes, tuple[str, ...]]:
    """Return the headers, in lower case, and the path of the argument that each repeats.

    Raises:
        SchemaInferenceError: Clients would refuse the tool for one of them.
    """
    listed = schema.flat
    said = sum(_KEYWORD in node for node in list_schemas(listed))
    if not said:
        return {}
    found: dict[bytes, tuple[str, ...]] = {}
    for path, node in _reach(listed, ()):
        name = _read_name(f"{where}: `{'.'.join(path)}`", node)
        header = f"{_PREFIX}{name}".lower().encode()
        if header in found:
            raise SchemaInferenceError(f"{where}: two parameters have the {_KEYWORD} {name!r}. Rename one.")
        found[header] = path
    if len(found) < said:
        raise SchemaInferenceError(
            f"{where}: an {_KEYWORD} stands where clients refuse it: within a list, a choice of types, or a model that "
            "refers to itself. Give it to a parameter of the tool itself."
        )
    return found


def _reach(schema: Schema, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Yield annotated properties, along `properties` only."""
    properties = schema.get("properties")
    for name, node in properties.items() if isinstance(properties, dict) else ():
        if isinstance(node, dict):
            if _KEYWORD in node:
                yield (*path, name), node
            yield from _reach(node, (*path, name))


def _read_name(where: str, node: Schema) -> str:
    name = node[_KEYWORD]
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise SchemaInferenceError(f"{where}: its {_KEYWORD} is no name of a header. Write letters, digits and `-`.")
    if node.get("type") not in _TYPES:
        raise SchemaInferenceError(
            f"{where}: has an {_KEYWORD}, but is no text, whole number or switch, or may also be None. "
            "Annotate it as str, int or bool alone, or take the header away."
        )
    return name


def drop_headers(schema: Schema) -> Schema:
    """Copy a schema without header annotations, which providers do not know."""
    node = map_children(schema, drop_headers)
    return {key: value for key, value in node.items() if key != _KEYWORD}
