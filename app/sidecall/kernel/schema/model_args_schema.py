"""Validate arguments with one pydantic model, which is also advertised."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from pydantic import AliasChoices, AliasPath, BaseModel, ValidationError
from pydantic_core import to_json

from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.incremental_validation import StepwiseValidator
from sidecall.kernel.core.tool import DEEPEST, MOST_VALUES, Schema
from sidecall.kernel.schema.catch_all import CatchAll
from sidecall.kernel.schema.errors.error_cache import ErrorCache
from sidecall.kernel.schema.errors.reading import REPAIR
from sidecall.kernel.schema.errors.unknown_keys import find_unknown_keys
from sidecall.kernel.schema.explain import list_details
from sidecall.kernel.schema.infinite_numbers import refuse_infinite
from sidecall.kernel.schema.model_validator import ModelValidator

# Made once: json.dumps makes an encoder at every call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


JsonMode = Literal["always", "if said", "never"]
# How names that no field takes are found: by pydantic, in one go with the rest; by looking through the arguments, where
# some objects take any name; not at all, where all do.
UnknownMode = Literal["forbid", "walk", "take"]


@dataclass(frozen=True, slots=True)
class ModelArgsSchema:
    """The arguments of one tool, described and validated by a pydantic model.

    `json_schema` has no titles and no hidden fields, and keeps `$defs`; `flat` is the same with references resolved.
    `closed` decides on names: `flat` without names that only the model, not the function, takes. `fields` maps each
    field of the model to the function's parameter. `hidden` maps injected fields of the author's model to the names
    under which the model reads them; `reserved` are all names of those. `takes_numbers` says that a text may be read as
    a number without a JSON form. `catch_all` reads the arguments of `**kwargs`.
    """

    model: type[BaseModel]
    json_schema: Schema
    flat: Schema
    closed: Schema
    fields: Mapping[str, str]
    accepted: frozenset[str]
    hidden: Mapping[str, str]
    reserved: frozenset[str]
    drops_unknown: bool
    unknown: UnknownMode
    json_mode: JsonMode
    takes_numbers: bool
    guards: int = DEEPEST
    renamed: Mapping[str, str] = field(default_factory=dict)
    catch_all: CatchAll | None = None
    # What `_check` does for most models, without a look at how; None for the others.
    check_plainly: Callable[..., BaseModel] | None = None
    # What is said of common faults; None where names that no field takes are walked for.
    error_cache: ErrorCache | None = None
    # How many values are validated without others having a turn.
    most_at_once: int = MOST_VALUES
    # What validates in place of the model itself; `steps` has it once it is made, for all copies.
    validator: Any = None
    steps: list[StepwiseValidator] = field(default_factory=list)

    def in_steps(self) -> "ModelArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""
        if not self.steps:
            self.steps.append(StepwiseValidator(self.model.__pydantic_core_schema__))
        return replace(self, validator=self.steps[0], check_plainly=None)

    def drop_unknown(self) -> "ModelArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return replace(self, guards=0)

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Rename values from parameter names to the model's argument names."""
        return {self.renamed.get(name, name): value for name, value in values.items()}

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments and return the values by parameter name, in the annotated types.

        Paths of repaired arguments are added to `repaired`, of dropped ones to `ignored`.

        Raises:
            InvalidArguments: One entry per mistake, without what was sent.
        """
        given = args
        checked: BaseModel
        if self.catch_all is not None:
            ignored += self.catch_all.find_forged(args)
            given = self.catch_all.unfold(args, repaired)
        if self.hidden:
            sent = (self._place_injected(name, injected[name]) for name in self.hidden.keys() & injected.keys())
            given = {**given, **dict(sent)}
        try:
            if self.check_plainly is not None:
                checked = self.check_plainly(given, extra="forbid")
                if self.takes_numbers:
                    refuse_infinite(given, checked, self.closed)
            else:
                checked = self._check(given)
        except ValidationError as error:
            checked = self._repair(given, error, repaired, ignored)
        found = checked.__dict__
        values = {}
        for name, parameter in self.fields.items():  # No comprehension, which is a function of its own until 3.12.
            values[parameter] = found[name]
        free = None if self.drops_unknown else checked.__pydantic_extra__
        return {**values, **free} if free else values

    def _repair(
        self, given: Mapping[str, Any], error: ValidationError, repaired: list[str], ignored: list[str]
    ) -> BaseModel:
        details = list_details(error)
        if len(details) == 1 and self.error_cache is not None:
            found = self.error_cache.find(details[0], given)
            if found is not None:
                entry: FieldError = {**found.entry, "loc": [*found.entry["loc"]]}  # A copy, since the answer has it.
                raise InvalidArguments([entry], partial(self._find_fault, given), found.line) from None
        validator = self._make_validator()
        reading = validator.sort(error.error_count(), details, given)
        checked: BaseModel = REPAIR.mend(validator, given, reading, repaired, ignored, self.guards)
        return checked

    def _make_validator(self) -> ModelValidator:
        return ModelValidator(
            self._check, self._check_known, self.closed, self.hidden.values(), walks=self.unknown == "walk"
        )

    def _find_fault(self, given: Mapping[str, Any]) -> ValidationError | None:
        return self._make_validator().find_fault(given)

    def _place_injected(self, field: str, value: Any) -> tuple[str, Any]:
        """Insert an injected value under the name that the model reads, which may be inside an object or array."""
        alias = self.model.model_fields[field].validation_alias
        first = alias.choices[0] if isinstance(alias, AliasChoices) else alias
        for step in reversed(first.path[1:] if isinstance(first, AliasPath) else []):
            value = {step: value} if isinstance(step, str) else [*[None] * step, value]
        return self.hidden[field], value

    def _check(self, given: Mapping[str, Any]) -> BaseModel:
        """Validate, refusing unknown names."""
        if self.unknown == "walk" and not find_unknown_keys(given, self.closed):
            return self._check_known(given)
        validator = self.validator or self.model.__pydantic_validator__
        text = None if self.json_mode == "never" else self._write_json(given)
        extra: Literal["forbid"] | None = None if self.unknown == "take" else "forbid"
        checked: BaseModel
        if text is None:
            checked = validator.validate_python(given, extra=extra)
        else:
            checked = validator.validate_json(text, extra=extra)
        if self.takes_numbers:
            refuse_infinite(given, checked, self.closed)
        return checked

    def _check_known(self, given: Mapping[str, Any]) -> BaseModel:
        """Validate, treating unknown names as the model itself does."""
        validator = self.validator or self.model.__pydantic_validator__
        text = None if self.json_mode == "never" else self._write_json(given)
        checked: BaseModel
        checked = validator.validate_python(given) if text is None else validator.validate_json(text)
        if self.takes_numbers:
            refuse_infinite(given, checked, self.closed)
        return checked

    def _write_json(self, given: Mapping[str, Any]) -> bytes | None:
        """Serialize the arguments back to JSON, in which a text can be a date and is no number.

        None if they hold Python objects, or injected values, which must not be copied.
        """
        try:
            if self.json_mode == "always":
                return to_json(given)
            return None if self.hidden else _encode(given).encode()
        except (TypeError, ValueError, RecursionError):
            return None
