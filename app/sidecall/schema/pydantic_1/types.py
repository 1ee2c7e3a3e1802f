"""Let parameters be annotated with models of pydantic 1."""

import types
import typing
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PydanticUserError
from pydantic_core import CoreSchema, core_schema

from sidecall.core.errors import SchemaInferenceError
from sidecall.core.parameter import Parameter
from sidecall.core.tool import Schema
from sidecall.schema.injections import find_marker
from sidecall.schema.pydantic_1.check import check_by_v1
from sidecall.schema.pydantic_1.models import is_v1_model, v1_schema
from sidecall.schema.references import inline_references
from sidecall.schema.signature import Signature

_ADVICE = "is of pydantic 1; take the type of pydantic 2, or give a pydantic 1 model of all arguments as args_schema"


@dataclass(frozen=True, slots=True)
class _Understood:
    """Stand beside a model of pydantic 1 in Annotated, and say to pydantic 2 how it is used."""

    model: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        said = core_schema.plain_serializer_function_ser_schema(lambda value: value.dict(by_alias=True))
        return core_schema.no_info_plain_validator_function(self._checked, serialization=said)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        del schema, handler
        flat = inline_references(v1_schema(self.model))
        if "$defs" in flat:
            raise PydanticUserError(f"{self.model.__name__} refers to itself and {_ADVICE}.", code=None)
        return flat

    def _checked(self, value: Any) -> Any:
        return check_by_v1(self.model, value)


def with_v1_models(signature: Signature, where: str) -> Signature:
    """Make the models of pydantic 1 in a signature's annotations usable beside those of pydantic 2.

    Raises:
        SchemaInferenceError: A parameter that the model fills has another type of pydantic 1.
    """
    parameters = tuple(_understood_parameter(parameter, where) for parameter in signature.parameters)
    return replace(signature, parameters=parameters, returns=_understood(signature.returns))


def _understood_parameter(parameter: Parameter, where: str) -> Parameter:
    annotation = _understood(parameter.annotation)
    foreign = _foreign_type(annotation)
    if foreign is not None and find_marker(annotation) is None:
        raise SchemaInferenceError(f"{where}: parameter `{parameter.name}`: {foreign.__name__} {_ADVICE}.")
    return parameter if annotation is parameter.annotation else replace(parameter, annotation=annotation)


def _understood(annotation: Any) -> Any:
    if is_v1_model(annotation):
        return Annotated[annotation, _Understood(annotation)]
    parts = _parts(annotation)
    understood = tuple(_understood(part) for part in parts)
    if all(new is old for new, old in zip(understood, parts, strict=True)):
        return annotation
    origin: Any = typing.get_origin(annotation)
    if origin is Annotated:
        return Annotated[(*understood, *annotation.__metadata__)]
    if origin is types.UnionType or origin is typing.Union:
        return typing.Union[understood]  # noqa: UP007  made of what is only known here
    return types.GenericAlias(origin, understood)


def _parts(annotation: Any) -> tuple[Any, ...]:
    parts = typing.get_args(annotation)
    return parts[:1] if typing.get_origin(annotation) is Annotated else parts


def _foreign_type(annotation: Any) -> type[Any] | None:
    """Find a type that only pydantic 1 knows how to check, such as its `constr`."""
    if isinstance(annotation, type) and hasattr(annotation, "__get_validators__"):
        knows_both = hasattr(annotation, "__get_pydantic_core_schema__")
        return None if knows_both else annotation
    if typing.get_origin(annotation) is Annotated and isinstance(annotation.__metadata__[0], _Understood):
        return None
    found = (_foreign_type(part) for part in _parts(annotation))
    return next((part for part in found if part is not None), None)
