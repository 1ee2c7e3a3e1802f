"""Support parameters annotated with models of pydantic 1."""

import types
import typing
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PydanticUserError
from pydantic_core import CoreSchema, core_schema

from sidecall.compat.pydantic_1.check import check_by_v1
from sidecall.compat.pydantic_1.json_schema import render_v1_schema
from sidecall.compat.pydantic_1.model import is_v1_model
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.parameter import Parameter
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.injections import find_marker
from sidecall.kernel.schema.references import inline_references
from sidecall.kernel.schema.signature import Signature

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
