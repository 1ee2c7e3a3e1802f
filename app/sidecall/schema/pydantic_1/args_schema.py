"""Check arguments by a model of pydantic 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sidecall.core.errors import InvalidArguments, SchemaInferenceError
from sidecall.core.tool import Schema
from sidecall.schema.mend import check_and_mend
from sidecall.schema.pydantic_1.check import check_by_v1
from sidecall.schema.pydantic_1.json_schema import render_v1_schema
from sidecall.schema.references import inline_references
from sidecall.schema.shape import shape_arguments


@dataclass(frozen=True, slots=True)
class V1ArgsSchema:
    """The arguments of one tool, described and checked by a model of pydantic 1."""

    model: Any
    json_schema: Schema
    flat: Schema
    accepted: frozenset[str]
    hidden: Mapping[str, str]
    reserved: frozenset[str]
    drops_unknown: bool

    def find_unknown(self, args: Mapping[str, Any]) -> list[str]:
        """Name the arguments that the model would drop silently."""
        return [name for name in args if name not in self.accepted] if self.drops_unknown else []

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Name values by field as a model names its arguments."""
        fields = self.model.__fields__
        names = {name: field.alias for name, field in fields.items() if name not in self.accepted}
        return {names.get(name, name): value for name, value in values.items()}

    def validate(self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str]) -> dict[str, Any]:
        """Check the arguments and return the values by field name, as the model makes them.

        Raises:
            InvalidArguments: One entry per offending field; its original is pydantic 1's ValidationError.
        """
        given = dict(args)
        for name in self.hidden.keys() & injected.keys():
            given[self.hidden[name]] = injected[name]
        try:
            checked = check_and_mend(self._check, given, self.flat, repaired)
        except InvalidArguments as failure:
            original: Any = failure.original and failure.original.__cause__
            raise InvalidArguments(failure.errors, original) from original
        values = checked.__dict__
        return {name: values[name] for name in values if name in self.model.__fields__ or not self.drops_unknown}

    def _check(self, given: Mapping[str, Any]) -> Any:
        return check_by_v1(self.model, given)


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
    return V1ArgsSchema(
        model=model,
        json_schema=json_schema,
        flat=inline_references(json_schema),
        accepted=frozenset(name for field in visible for name in names[field]),
        hidden={field: names[field][0] for field in hidden},
        reserved=reserved,
        drops_unknown=drops_unknown,
    )


def _list_names(model: Any, name: str) -> list[str]:
    """List the names under which a field is read, the advertised one first."""
    alias = model.__fields__[name].alias
    by_name = alias != name and model.__config__.allow_population_by_field_name
    return [alias, name] if by_name else [alias]
