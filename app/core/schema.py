"""Make the pydantic model of a tool's arguments from its signature, or fit the author's own model to it."""

import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from app.core.args_schema import ArgsSchema, make_args_schema, schema_of
from app.core.errors import SchemaInferenceError
from app.core.injection import annotation_of, plan_model_injections
from app.core.signature import EMPTY, VARIADIC, Parameter

_VALIDATING = ConfigDict(validate_default=True)
_ADVICE = "use a type that JSON can say, or hide the parameter with Annotated[..., InjectedToolArg]"


def infer_args_schema(
    where: str, parameters: Iterable[Parameter], descriptions: Mapping[str, str], *, forbid_unknown: bool
) -> ArgsSchema:
    """Make the arguments' model from the parameters the model may fill.

    Fields get safe internal names with the parameters' names as aliases, so that a parameter may be called anything,
    `model_config` and `_x` included.

    Args:
        where: The tool's name and file, for errors.
        parameters: Those that are not injected.
        descriptions: What the docstring says of each.
        forbid_unknown: Whether an argument that no parameter takes is refused.

    Raises:
        SchemaInferenceError: A parameter's type or default cannot be said in JSON Schema.
    """
    named = [parameter for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    catch_all = next((p for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD), None)
    base = _base(catch_all, forbid_unknown, descriptions)
    fields = {f"p{i}": _field(parameter, descriptions.get(parameter.name)) for i, parameter in enumerate(named)}
    for parameter, (name, field) in zip(named, fields.items(), strict=True):
        _check(where, parameter, base, {name: field})
    model = _create(base, fields)
    return make_args_schema(model, {f"p{i}": p.name for i, p in enumerate(named)}, frozenset())


def _create(base: type[BaseModel], fields: Mapping[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model("Arguments", __base__=base, **fields)
    return model


def _check(where: str, parameter: Parameter, base: type[BaseModel], field: Mapping[str, Any]) -> None:
    """Fail for this one parameter, so that the error can name it."""
    try:
        model = _create(base, field)
        schema_of(model, frozenset())
    except (PydanticUserError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise SchemaInferenceError(f"{where}: parameter `{parameter.name}`: {reason} To mend it, {_ADVICE}.") from error
    for info in model.model_fields.values():
        _check_default(where, parameter, info)


def _check_default(where: str, parameter: Parameter, field: FieldInfo) -> None:
    # A factory is not called: it may open something.
    if field.is_required() or field.default_factory is not None:
        return
    checked = create_model("Default", value=(annotation_of(field), field.default), __config__=_VALIDATING)
    try:
        checked()
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        text = f"{where}: parameter `{parameter.name}`: its default does not fit its type: {reason}."
        raise SchemaInferenceError(text) from error


def _base(catch_all: Parameter | None, forbid_unknown: bool, descriptions: Mapping[str, str]) -> type[BaseModel]:
    if catch_all is None:
        config = ConfigDict(extra="forbid" if forbid_unknown else "ignore")
        return type("Base", (BaseModel,), {"model_config": config, "__module__": __name__})
    annotation = Any if catch_all.annotation is EMPTY else catch_all.annotation
    if catch_all.name in descriptions:
        annotation = Annotated[annotation, Field(description=descriptions[catch_all.name])]
    body = {
        "model_config": ConfigDict(extra="allow"),
        "__annotations__": {"__pydantic_extra__": types.GenericAlias(dict, (str, annotation))},
        "__module__": __name__,
    }
    return type("Base", (BaseModel,), body)


def _field(parameter: Parameter, documented: str | None) -> tuple[Any, Any]:
    """Make one field.

    The description is the docstring's, else the first bare text in Annotated, else the Field's, as in both SDKs.
    """
    annotation, default = _declared(parameter)
    merged = FieldInfo.from_annotation(annotation)
    added: dict[str, Any] = {
        "description": documented or _bare_text(parameter.annotation) or merged.description,
        "validation_alias": _alias(parameter.name, merged),
    }
    if default is EMPTY and merged.default_factory is not None:
        added["default_factory"] = merged.default_factory
    if default is EMPTY:
        default = ... if merged.is_required() or merged.default_factory else merged.default
    return Annotated[annotation, Field(**added)], default


def _declared(parameter: Parameter) -> tuple[Any, Any]:
    """Say a parameter as an annotation and a default; a Field given as the default joins the annotation."""
    annotation = Any if parameter.annotation is EMPTY else parameter.annotation
    default = parameter.default
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return Annotated[types.GenericAlias(list, (annotation,)), Field(default_factory=list)], EMPTY
    if isinstance(default, FieldInfo):
        return Annotated[annotation, default], EMPTY
    if default is None and not _takes_none(annotation):
        # `limit: int = None` is how many authors write an optional parameter.
        return _optional(annotation), None
    return annotation, default


def _takes_none(annotation: Any) -> bool:
    plain = annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation
    return plain in (Any, object) or type(None) in typing.get_args(plain)


def _optional(annotation: Any) -> Any:
    """Allow null; what is said about the parameter stays outside, what checks its value inside."""
    metadata = getattr(annotation, "__metadata__", ())
    plain = annotation.__origin__ if metadata else annotation
    said = tuple(part for part in metadata if isinstance(part, (str, FieldInfo)))
    checks = tuple(part for part in metadata if not isinstance(part, (str, FieldInfo)))
    nullable: Any = typing.Optional[Annotated[(plain, *checks)] if checks else plain]  # noqa: UP045  `|` refuses text
    return Annotated[(nullable, *said)] if said else nullable


def _bare_text(annotation: Any) -> str | None:
    """Find the first text in Annotated: a plain one, or `Doc("...")` of PEP 727."""
    metadata = getattr(annotation, "__metadata__", ())
    texts = (getattr(part, "documentation", part) for part in metadata)
    return next((text for text in texts if isinstance(text, str)), None)


def _alias(name: str, merged: FieldInfo) -> AliasChoices | str:
    """Advertise the author's alias, and accept the parameter's own name beside it."""
    own = merged.validation_alias
    if own is None:
        return name
    choices = own.choices if isinstance(own, AliasChoices) else [own]
    return AliasChoices(*choices, name)


def adopt_args_schema(
    where: str, model: type[BaseModel], parameters: Iterable[Parameter], supplied: frozenset[str]
) -> ArgsSchema:
    """Take the author's own model as the arguments of a tool.

    Args:
        where: The tool's name and file, for errors.
        model: A pydantic 2 model.
        parameters: All parameters of the function.
        supplied: Names of the parameters that are injected.

    Raises:
        SchemaInferenceError: A field cannot be said in JSON Schema, or model and function do not fit together.
    """
    hidden = frozenset(injection.parameter for injection in plan_model_injections(model))
    accepted = {parameter.name for parameter in parameters if parameter.kind not in VARIADIC}
    catches_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    unknown = set() if catches_all else model.model_fields.keys() - accepted
    missing = {p.name for p in parameters if p.required} - model.model_fields.keys() - supplied
    if unknown or missing:
        names = ", ".join(f"`{name}`" for name in sorted(unknown or missing))
        side = "the function does not take" if unknown else "the function requires but the model lacks"
        raise SchemaInferenceError(f"{where}: args_schema {model.__name__} has to match the function: {side} {names}.")
    try:
        return make_args_schema(model, {name: name for name in model.model_fields}, hidden)
    except PydanticUserError as error:
        reason = str(error).partition("\n")[0]
        raise SchemaInferenceError(f"{where}: args_schema {model.__name__}: {reason}") from error
