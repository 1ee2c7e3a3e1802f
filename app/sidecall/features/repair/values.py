"""Repair single values that models write in another form than expected."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sidecall.features.repair.resolve_unknown import Notes
from sidecall.features.repair.text import read_container
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.text import name_json_type
from sidecall.kernel.schema.describe import write_literal
from sidecall.kernel.schema.errors.entries import list_allowed, list_options, make_invalid
from sidecall.kernel.schema.errors.fitting import FALSE, TRUE, read_number
from sidecall.kernel.schema.errors.validation_errors import ABSENT, Site
from sidecall.kernel.schema.whole_numbers import drop_member, is_free, replace_member, to_integer
from sidecall.kernel.suggest.fuzzy_match import find_same

_NULLS = frozenset(("null", "none"))
# Rules by which a text is no number or boolean that might be read as one.
_AS_TEXT = frozenset(("type", "int_parsing", "int_parsing_size"))


def mend_value(data: Any, site: Site, root: Schema, notes: Notes) -> Any:
    """Copy the data with one value repaired, if possible; changes are noted.

    Null where an optional argument refuses it means "not given", since strict schemas make models send it; an entry of
    an object with free keys is no argument.
    """
    value = site.value
    if site.kind in ABSENT:
        return data
    if value is None:
        if not site.path or is_free(root, site.path):
            return data
        notes.nulls[site.path] = make_invalid(site.path, site.kind, site.node or {}, root)
        return drop_member(data, site.path)
    if isinstance(value, float) and site.node is not None:
        return _read_whole(data, site, _list_types(site.node, root))
    return _mend_text(data, site, root, notes) if isinstance(value, str) and site.node is not None else data


def _read_whole(data: Any, site: Site, kinds: set[str]) -> Any:
    """Convert a whole number to an int, as JSON has it; pydantic refuses large ones, and all in strict fields."""
    is_meant = site.value.is_integer() and "integer" in kinds and "number" not in kinds
    return replace_member(data, site.path, to_integer(site.value)) if is_meant else data


def _mend_text(data: Any, site: Site, root: Schema, notes: Notes) -> Any:
    node: Schema = site.node or {}
    value, kinds = site.value, _list_types(node, root)
    if _is_null_text(value) and "string" not in kinds:
        return _read_null(data, site, root, notes, takes_null="null" in kinds)
    inner = read_container(value)
    if inner is not value:
        return _replace(data, site, inner, f"JSON text instead of {name_json_type(inner)}", notes)
    allowed = list_allowed(node, root)
    if allowed:
        return _read_choice(data, site, allowed, notes)
    # pydantic does so itself, unless its field is strict; of integers but those without a dot or an exponent.
    return _read_plain(data, site, kinds, notes) if site.kind in _AS_TEXT else data


def _read_choice(data: Any, site: Site, allowed: Sequence[Any], notes: Notes) -> Any:
    """Match a text to an enumerated value in another spelling, or to the number that it represents."""
    same = find_same(site.value, [it for it in allowed if isinstance(it, str)])
    if len(same) == 1:
        return _replace(data, site, same[0], f"{write_literal(same[0])} in other letters", notes)
    number = read_number(site.value)
    numbers = [it for it in allowed if isinstance(it, (int, float)) and not isinstance(it, bool)]
    said = [it for it in numbers if it == number]
    return _replace(data, site, said[0], "text instead of a number", notes) if said else data


def _list_types(node: Schema, root: Schema) -> set[str]:
    """List the possible types of a value; of strings only those without a format."""
    kinds: set[str] = set()
    for option in list_options(node, root):
        is_text = not option.keys() & {"const", "enum", "properties", "format"}
        kind = option.get("type", "string" if is_text else ())
        named = {kind} if isinstance(kind, str) else set(kind)
        kinds |= named if is_text or any(_is_null_text(it) for it in list_allowed(option, root)) else named - {"string"}
    return kinds


def _is_null_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in _NULLS


def _read_null(data: Any, site: Site, root: Schema, notes: Notes, *, takes_null: bool) -> Any:
    if takes_null:
        return _replace(data, site, None, "text instead of null", notes)
    if not site.path or is_free(root, site.path):
        return data
    notes.nulls[site.path] = make_invalid(site.path, site.kind, site.node or {}, root)
    notes.repaired.append(f"{format_path(site.path)}: text instead of null")
    return drop_member(data, site.path)


def _read_plain(data: Any, site: Site, kinds: set[str], notes: Notes) -> Any:
    """Parse a number or boolean from a string, if only these are accepted."""
    text = site.value.strip()
    number = read_number(text)
    wanted = kinds - {"null"}
    if number is not None and wanted == {"number"}:
        return _replace(data, site, int(number) if number.is_integer() else number, "text instead of a number", notes)
    if number is not None and wanted == {"integer"} and number.is_integer():
        return _replace(data, site, int(Decimal(text)), "text instead of a number", notes)
    if wanted == {"boolean"} and text.lower() in TRUE | FALSE:
        return _replace(data, site, text.lower() in TRUE, "text instead of a boolean", notes)
    return data


def _replace(data: Any, site: Site, value: Any, said: str, notes: Notes) -> Any:
    notes.repaired.append(f"{format_path(site.path)}: {said}")
    return replace_member(data, site.path, value)
