"""Validate arguments with a model of pydantic 1."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from sidecall.compat.pydantic_1.check import check_by_v1
from sidecall.compat.pydantic_1.json_schema import render_v1_schema
from sidecall.kernel.core.errors import InvalidArguments, SchemaInferenceError
from sidecall.kernel.core.tool import DEEPEST, Schema
from sidecall.kernel.schema.infinite import refuse_infinite
from sidecall.kernel.schema.judge import ModelJudge
from sidecall.kernel.schema.references import inline_references
from sidecall.kernel.schema.repair.coerce import mend
from sidecall.kernel.schema.shape import shape_arguments


@dataclass(frozen=True, slots=True)
class V1ArgsSchema:
    """The arguments of one tool, described and validated by a model of pydantic 1."""

    model: Any
    json_schema: Schema
    flat: Schema
    closed: Schema
    accepted: frozenset[str]
    hidden: Mapping[str, str]
    reserved: frozenset[str]
    drops_unknown: bool
    guards: int = DEEPEST

    def drop_unknown(self) -> "V1ArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return replace(self, guards=0)

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Rename values from field names to the model's argument names."""
        fields = self.model.__fields__
        names = {name: field.alias for name, field in fields.items() if name not in self.accepted}
        return {names.get(name, name): value for name, value in values.items()}

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments and return the values by field name, as the model makes them.

        Paths of repaired arguments are added to `repaired`, of dropped ones to `ignored`.

        Raises:
            InvalidArguments: One entry per mistake; its original is pydantic 1's ValidationError.
        """
        given = dict(args)
        for name in self.hidden.keys() & injected.keys():
            given[self.hidden[name]] = injected[name]
        try:
            checked = self._check(given)
        except ValidationError as error:
            checked = self._mend(given, error, repaired, ignored)
        values = checked.__dict__
        return {name: values[name] for name in values if name in self.model.__fields__ or not self.drops_unknown}

    def _mend(self, given: Mapping[str, Any], error: ValidationError, repaired: list[str], ignored: list[str]) -> Any:
        judge = ModelJudge(self._check, self._check_known, self.closed, self.hidden.values())
        try:
            return mend(judge, given, judge.read(error, given), repaired, ignored, self.guards)
        except InvalidArguments as failure:
            original: Any = failure.original and failure.original.__cause__
            raise InvalidArguments(failure.errors, lambda: original) from original

    def _check(self, given: Mapping[str, Any]) -> Any:
        """Validate, refusing unknown names; only top-level ones can be found."""
        unknown = self.drops_unknown and given.keys() - self.accepted - set(self.hidden.values())
        if unknown:
            errors = [InitErrorDetails(type="extra_forbidden", loc=(name,), input=given[name]) for name in unknown]
            raise ValidationError.from_exception_data(self.model.__name__, errors)
        return self._check_known(given)

    def _check_known(self, given: Mapping[str, Any]) -> Any:
        checked = check_by_v1(self.model, given)
        refuse_infinite(given, checked, self.closed)
        return checked


def make_v1_args_schema(where: str, model: Any, hidden: frozenset[str], *, drops_unknown: bool) -> V1ArgsSchema:
    """Compile a model of pydantic 1.

    Args:
        where: The tool's name and file, for errors.
        model: The model.
        hidden: Its fields that are injected.
        drops_unknown: Whether what the model does not know is left out.

    Raises:
        SchemaInferenceError: A field cannot be said in JSON Schema.
    """
    names = {name: _list_names(model, name) for name in model.__fields__}
    reserved = frozenset(name for field in hidden for name in (field, *names[field]))
    try:
        json_schema = shape_arguments(render_v1_schema(model), reserved)
    except (ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise SchemaInferenceError(f"{where}: args_schema {model.__name__}: {reason}") from error
    visible = [name for name in names if name not in hidden]
    unsaid = [name for name in visible if names[name][0] not in json_schema["properties"]]
    if unsaid:
        reason = f"`{unsaid[0]}` cannot be said in JSON Schema"
        raise SchemaInferenceError(f"{where}: args_schema {model.__name__}: {reason}.")
    flat = inline_references(json_schema)
    return V1ArgsSchema(
        model=model,
        json_schema=json_schema,
        flat=flat,
        closed={key: flat[key] for key in flat if key != "additionalProperties"} if drops_unknown else flat,
        accepted=frozenset(name for field in visible for name in names[field]),
        hidden={field: names[field][0] for field in hidden},
        reserved=reserved,
        drops_unknown=drops_unknown,
    )


def _list_names(model: Any, name: str) -> list[str]:
    """List the names of a field, the advertised one first."""
    alias = model.__fields__[name].alias
    by_name = alias != name and model.__config__.allow_population_by_field_name
    return [alias, name] if by_name else [alias]
