"""Recognize models of pydantic 1 without importing it, since that warns on newer Pythons."""

import inspect
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, PydanticUserError
from pydantic_core import CoreSchema, core_schema

from sidecall.compat.pydantic_1.args_schema import V1ArgsSchema, check_by_v1, make_v1_args_schema, render_v1_schema
from sidecall.compiler.injection_plan import find_marker, plan_injections
from sidecall.compiler.signature import Signature, is_builtin
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.injection import Injection
from sidecall.kernel.core.tool import EMPTY, Parameter, Schema
from sidecall.kernel.schema.references import inline_references

_ADVICE = "is of pydantic 1; take the type of pydantic 2, or give a pydantic 1 model of all arguments as args_schema"


@dataclass(frozen=True, slots=True)
class _CheckedByV1:
    """Annotated metadata for a pydantic 1 model, by which pydantic 2 validates with that model."""

    model: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        said = core_schema.plain_serializer_function_ser_schema(lambda value: value.dict(by_alias=True))
        return core_schema.no_info_plain_validator_function(self._check, serialization=said)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        del schema, handler
        flat = inline_references(render_v1_schema(self.model))
        if "$defs" in flat:
            raise PydanticUserError(f"{self.model.__name__} refers to itself and {_ADVICE}.", code=None)
        return flat

    def _check(self, value: Any) -> Any:
        return check_by_v1(self.model, value)


def adapt_v1_annotations(signature: Signature, where: str) -> Signature:
    """Make the pydantic 1 models in a signature's annotations usable with pydantic 2.

    Raises:
        SchemaInferenceError: A parameter that the model fills has another type of pydantic 1.
    """
    parameters = tuple(_adapt_parameter(parameter, where) for parameter in signature.parameters)
    return replace(signature, parameters=parameters, returns=_adapt(signature.returns))


def _adapt_parameter(parameter: Parameter, where: str) -> Parameter:
    if is_builtin(parameter.annotation):
        return parameter
    annotation = _adapt(parameter.annotation)
    v1_type = _find_v1_type(annotation)
    if v1_type is not None and find_marker(annotation) is None:
        raise SchemaInferenceError(f"{where}: parameter `{parameter.name}`: {v1_type.__name__} {_ADVICE}.")
    return parameter if annotation is parameter.annotation else replace(parameter, annotation=annotation)


def _adapt(annotation: Any) -> Any:
    if is_v1_model(annotation):
        return Annotated[annotation, _CheckedByV1(annotation)]
    parts = _list_parts(annotation)
    adapted = tuple(_adapt(part) for part in parts)
    if all(new is old for new, old in zip(adapted, parts, strict=True)):
        return annotation
    origin: Any = typing.get_origin(annotation)
    if origin is Annotated:
        return Annotated[(*adapted, *annotation.__metadata__)]
    if origin is types.UnionType or origin is typing.Union:
        return typing.Union[adapted]  # noqa: UP007  made of what is only known here
    return types.GenericAlias(origin, adapted)


def _list_parts(annotation: Any) -> tuple[Any, ...]:
    parts = typing.get_args(annotation)
    return parts[:1] if typing.get_origin(annotation) is Annotated else parts


def _find_v1_type(annotation: Any) -> type[Any] | None:
    """Return a type that only pydantic 1 can validate, such as its `constr`, or None."""
    if isinstance(annotation, type) and hasattr(annotation, "__get_validators__"):
        knows_both = hasattr(annotation, "__get_pydantic_core_schema__")
        return None if knows_both else annotation
    if typing.get_origin(annotation) is Annotated and isinstance(annotation.__metadata__[0], _CheckedByV1):
        return None
    found = (_find_v1_type(part) for part in _list_parts(annotation))
    return next((part for part in found if part is not None), None)


def is_v1_model(kind: Any) -> bool:
    """Return whether this is a model of pydantic 1."""
    is_foreign = isinstance(kind, type) and not issubclass(kind, BaseModel)
    return is_foreign and all(hasattr(kind, name) for name in ("__fields__", "__config__", "parse_obj"))


@dataclass(frozen=True, slots=True)
class V1Model:
    """An author's arguments model, of pydantic 1."""

    kind: Any

    @property
    def aliases(self) -> Mapping[str, str]:
        """The alias of each field."""
        return {name: field.alias for name, field in self.kind.__fields__.items()}

    @property
    def required(self) -> frozenset[str]:
        """The fields without a default."""
        return frozenset(name for name, field in self.kind.__fields__.items() if field.required)

    @property
    def extra(self) -> str:
        """The handling of unknown fields: `ignore`, `allow` or `forbid`."""
        extra = self.kind.__config__.extra
        return str(getattr(extra, "value", extra))

    def read_annotations(self) -> Mapping[str, Any]:
        """Read the annotations of the fields, markers included."""
        hints = typing.get_type_hints(self.kind, include_extras=True)
        return {name: hints.get(name) for name in self.kind.__fields__}

    def plan_injections(self, where: str) -> tuple[Injection, ...]:
        """Plan the injection of marked fields; the model validates the values itself.

        Raises:
            SchemaInferenceError: An annotation names something that does not exist.
        """
        try:
            annotations = self.read_annotations()
        except NameError as error:
            raise SchemaInferenceError(f"{where}: args_schema {self.kind.__name__}: {error}.") from error
        found = ((name, find_marker(annotation)) for name, annotation in annotations.items())
        return plan_injections(self._make_parameter(name, marker) for name, marker in found if marker is not None)

    def _make_parameter(self, name: str, marker: Any) -> Parameter:
        field = self.kind.__fields__[name]
        default = EMPTY if field.required else field.default
        return Parameter(name, inspect.Parameter.KEYWORD_ONLY, Annotated[Any, marker], default)

    def make_args_schema(self, where: str, hidden: frozenset[str], *, takes_extra: bool) -> V1ArgsSchema:
        """Compile the model.

        Raises:
            SchemaInferenceError: A field cannot be said in JSON Schema.
        """
        drops_unknown = self.extra == "ignore" or (self.extra == "allow" and not takes_extra)
        return make_v1_args_schema(where, self.kind, hidden, drops_unknown=drops_unknown)

    def check(self, given: Any) -> Any:
        """Validate values.

        Raises:
            ValidationError: One of pydantic 2, caused by the model's own.
        """
        return check_by_v1(self.kind, given)

    def drop_fields(self, names: frozenset[str]) -> "V1Model":
        """Return the same model: its hidden fields are dropped when it is compiled."""
        del names
        return self
