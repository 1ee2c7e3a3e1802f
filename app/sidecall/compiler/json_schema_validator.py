"""Validate arguments with a JSON Schema, and find unknown names."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sidecall.compiler.choices import is_costly, leads_back
from sidecall.compiler.json_schema_library import compile_with_formats
from sidecall.compiler.mismatches import Mismatches, list_mismatches
from sidecall.compiler.pattern_places import leave_patterns
from sidecall.compiler.rule_errors import add_rule, find_rule, format_rule
from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.field_errors import MOST_FIELDS, FieldError
from sidecall.kernel.core.incremental_validation import TOO_MANY_CHOICES
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.text import has_more_text
from sidecall.kernel.schema.all_of import join_all
from sidecall.kernel.schema.describe import list_needed
from sidecall.kernel.schema.drafts import list_forbidden
from sidecall.kernel.schema.errors.entries import Path
from sidecall.kernel.schema.errors.reading import Reading
from sidecall.kernel.schema.errors.unknown_keys import find_unknown_keys
from sidecall.kernel.schema.errors.validation_errors import Site, ValidationErrors, find_inner, find_nulls
from sidecall.kernel.schema.references import ANNOTATIONS, list_schemas, map_children
from sidecall.kernel.schema.whole_numbers import drop_member, make_integers


@dataclass(frozen=True)
class JsonSchemaValidator:
    """Validates with a JSON Schema, and with a copy whose open objects are closed.

    `root` is the schema by which errors are described; its own names count only if the function takes them. `schema` is
    what `validator` is compiled from, which may refer to definitions. Arguments with more than `most_text` characters
    are compared with no pattern.
    """

    root: Schema
    schema: Schema
    validator: Any
    takes_any: bool
    most_text: int | None = None

    @cached_property
    def leads_back(self) -> bool:
        """Whether members of a choice may hold that choice again."""
        return leads_back(self.root)

    @cached_property
    def closed(self) -> Any:
        """The closed schema, compiled at the first call: most tools of a large catalog are never called."""
        return compile_with_formats(_close(self.root)) if _is_closable(self.root) else self.validator

    @cached_property
    def loose(self) -> "JsonSchemaValidator":
        """The same without patterns."""
        schema = leave_patterns(self.root, lambda _: True)
        return JsonSchemaValidator(schema, schema, compile_with_formats(schema), self.takes_any)

    @property
    def kept_from(self) -> int | None:
        """The minimum path length at which unknown names are kept; None if all are dropped."""
        return 1 if self.takes_any else 2

    def make_integers(self, fitting: Any) -> Any:
        """Convert whole floats to ints where the schema accepts them as integers."""
        if self._is_too_long(fitting):
            return self.loose.make_integers(fitting)
        if self._is_costly(fitting):
            return fitting  # What holds of each part would be listed for each way to read it.
        return make_integers(fitting, self.root, self.schema, lambda data: self.validator.evaluate(data).list())

    def validate(self, data: Mapping[str, Any]) -> Reading:
        """Validate the arguments, unknown ones included."""
        if self._is_too_long(data):
            return self.loose.validate(data)
        if self._is_costly(data):
            return self._validate_roughly(data)
        found = self._list_errors(self.closed, data)
        errors = found.errors
        if found.is_whole and not errors:
            return Reading(data, fits=True)
        # The validator lists all errors of a value, however many; where no name is wrong, once is enough.
        if not any(map(_is_of_names, errors)):
            return _read(found, data)
        unknown_keys = find_unknown_keys(data, self.root)
        known = _read(self._list_errors(self.validator, data), data)
        if not unknown_keys:
            return self._leave_nulls_out(errors, data) or known
        known.fits = False
        known.unknown_keys = unknown_keys
        return known

    def list_sites(self, reading: Reading, data: Mapping[str, Any]) -> list[Site]:
        """List the places of invalid values."""
        if reading.sites is None:
            wrong = [error for error in reading.faults if error.kind.name not in _OF_NAMES]
            reading.places = {id(error): self._locate(data, error) for error in wrong}
            # Each rule of a value that is broken has its own error.
            sites = list({site.path: site for site in reading.places.values()}.values())
            nulls = [null for site in sites if site.kind in _OF_UNIONS for null in find_nulls(site, self.root)]
            reading.sites = [*sites, *nulls]
        return list(reading.sites)

    def list_extras(self, reading: Reading, data: Mapping[str, Any]) -> list[Path]:
        """List the paths of unknown names."""
        del data
        return [unknown_key.path for unknown_key in reading.unknown_keys]

    def validate_known(self, data: Mapping[str, Any]) -> Reading:
        """Validate the known arguments; ignore unknown ones."""
        if self._is_too_long(data):
            return self.loose.validate_known(data)
        if self._is_costly(data):
            return self._validate_roughly(data)
        return _read(self._list_errors(self.validator, data), data)

    def _is_too_long(self, data: Any) -> bool:
        return self.most_text is not None and has_more_text(data, self.most_text)

    def _is_costly(self, data: Any) -> bool:
        return self.leads_back and is_costly(data, self.root)

    def _validate_roughly(self, data: Mapping[str, Any]) -> Reading:
        """Validate what has too many ways to be read: nothing is repaired, and no name is looked for."""
        if self._is_valid(data):
            return Reading(data, fits=True)
        found = ValidationErrors(self.root).find(data, self.root, ())
        raise InvalidArguments(found or [{"loc": [], "type": "too_many_choices", "msg": TOO_MANY_CHOICES}])

    def _locate(self, data: Any, error: Any) -> Site:
        path = find_path(error, data)
        node: Schema | None = self.root
        value = data
        for step in path:
            node = find_inner(None if node is None else join_all(node), step, self.root)
            value = value[step]
        rule = find_rule(error, (self.root, self.schema))
        return Site(error.kind.name, path, add_rule(node, rule, error.kind.name, self.root), value)

    def _leave_nulls_out(self, errors: list[Any], data: Mapping[str, Any]) -> Reading | None:
        """Remove nulls that fit a union only because another member takes any names; None if there are none."""
        sites = [self._locate(data, error) for error in errors]
        nulls = [null.path for it in sites if it.kind in _OF_UNIONS for null in find_nulls(it, self.root)]
        values: Any = data
        for path in nulls:
            values = drop_member(values, path)
        return Reading(values, fits=True) if nulls and self.closed.is_valid(values) else None

    def _list_errors(self, validator: Any, given: Any) -> Mismatches:
        try:
            return list_mismatches(validator, given)
        except ValueError as error:
            raise _refuse_objects(error) from error

    def _is_valid(self, given: Any) -> bool:
        try:
            return bool(self.validator.is_valid(given))
        except ValueError as error:
            raise _refuse_objects(error) from error

    def find_fault(self, data: Mapping[str, Any]) -> Any:
        """Return None: a schema has no error of its own."""
        del data

    def explain(self, reading: Reading, data: Mapping[str, Any]) -> list[FieldError]:
        """Make the error entries, without those of unknown names."""

        def locate(error: Any) -> Site:
            known = reading.places.get(id(error))
            return self._locate(data, error) if known is None else known

        return [entry for error in reading.faults for entry in format_rule(error, locate, self.root)]


def _refuse_objects(error: ValueError) -> InvalidArguments:
    """Refuse what only this process can send: objects, and keys that are no texts."""
    return InvalidArguments([{"loc": [], "type": "json_type", "msg": f"Input should be JSON: {error}"}])


def _read(found: Mismatches, data: Any) -> Reading:
    if found.is_whole and not found.errors:
        return Reading(data, fits=True)
    # Those that were not listed are more than are told of, or else they would have been.
    return Reading(count=len(found.errors) if found.is_whole else MOST_FIELDS + 1, faults=found.errors)


_OF_NAMES = frozenset(("required", "additionalProperties"))
_OF_UNIONS = frozenset(("anyOf", "oneOf"))
_OF_CLOSING = frozenset(("additionalProperties", "propertyNames"))


def _is_of_names(error: Any) -> bool:
    """Return whether an error may be about a name: of an object, or of a union member for objects."""
    members = getattr(error.kind, "context", ())
    return error.kind.name in _OF_CLOSING or any(_is_of_names(it) for faults in members for it in faults)


def find_path(error: Any, given: Any) -> Path:
    """Return the path of an error; the validator takes keys of digits for indexes."""
    path: list[str | int] = []
    for step in error.instance_path:
        path.append(step if isinstance(given, list) else str(step))
        given = given[path[-1]]
    return tuple(path)


def make_json_schema_validator(schema: Schema, flat: Schema, takes: frozenset[str] | None) -> JsonSchemaValidator:
    """Compile a schema.

    Args:
        schema: The schema.
        flat: The same with references in place.
        takes: The function's parameters; None when it has `**kwargs`.

    Raises:
        ValueError: It is no JSON Schema.
    """
    root = flat
    if takes is not None and flat.get("additionalProperties"):
        root = {key: value for key, value in flat.items() if key != "additionalProperties"}
    return JsonSchemaValidator(root, schema, compile_with_formats(schema), takes is None)


# Where members of a schema share its names, or exclude each other, closing one would change what fits.
_SHARING = frozenset("allOf oneOf not if then else dependentSchemas unevaluatedProperties".split())


def _is_closable(schema: Schema) -> bool:
    """Return whether the targets of a schema's references mean the same everywhere."""
    nodes = list_schemas(schema)
    references = [node for node in nodes if "$ref" in node]
    if not references:
        return True
    if any(len(node.keys() - ANNOTATIONS) != 1 for node in references):
        return False
    sharing = [node for node in nodes if not _SHARING.isdisjoint(node)]
    return not any("$ref" in it for node in sharing for it in list_schemas(node))


def _close(schema: Schema) -> Schema:
    """Close the objects that name their properties and do not set `additionalProperties`."""
    choices = {key for key in ("anyOf", "oneOf") if list_needed(schema.get(key, ()))}  # They name properties only.
    if schema.keys() & _SHARING - choices:
        return schema
    node = map_children(schema, _close)
    shares = node.keys() & {"additionalProperties", "patternProperties", "anyOf"} - choices
    names_others = "propertyNames" in node and not list_forbidden(node)
    return node if shares or names_others or "properties" not in node else {**node, "additionalProperties": False}
