"""Make the pydantic model of a tool's arguments from its signature, or fit the author's own model to it."""

import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    create_model,
)
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from sidecall.core.errors import InvalidToolOption, SchemaInferenceError
from sidecall.core.injection import Injection
from sidecall.core.parameter import EMPTY, VARIADIC, Parameter
from sidecall.core.tool import ArgsSchema
from sidecall.schema.by_model import ModelArgsSchema, make_args_schema, schema_of
from sidecall.schema.injections import annotation_of, plan_model_injections
from sidecall.schema.pydantic_1.args_schema import make_v1_arguments, plan_v1_injections, v1_extra
from sidecall.schema.pydantic_1.models import is_v1_model

_VALIDATING = ConfigDict(validate_default=True)
_FREE = "Further arguments, each under its own name beside the others."
_ADVICE = "use a type that JSON can say, or hide the parameter with Annotated[..., InjectedToolArg]"


def infer_args_schema(
    where: str,
    parameters: Iterable[Parameter],
    descriptions: Mapping[str, str],
    injected: frozenset[str],
    *,
    forbid_unknown: bool,
) -> ModelArgsSchema:
    """Make the arguments' model from the parameters the model may fill.

    Fields get safe internal names with the parameters' names as aliases, so that a parameter may be called anything,
    `model_config` and `_x` included.

    Args:
        where: The tool's name and file, for errors.
        parameters: Those of the function.
        descriptions: What the docstring says of each.
        injected: Names of the parameters that the model must not fill.
        forbid_unknown: Whether an argument that no parameter takes is refused.

    Raises:
        SchemaInferenceError: A parameter's type or default cannot be said in JSON Schema.
    """
    visible = [parameter for parameter in parameters if parameter.name not in injected]
    named = [parameter for parameter in visible if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    catch_all = next((p for p in visible if p.kind is inspect.Parameter.VAR_KEYWORD), None)
    base = _base(forbid_unknown) if catch_all is None else _open_base(where, catch_all, descriptions)
    fields = {f"p{i}": _field(parameter, descriptions.get(parameter.name)) for i, parameter in enumerate(named)}
    for parameter, (name, field) in zip(named, fields.items(), strict=True):
        _check(where, parameter, base, {name: field})
    model = _create(base, fields)
    return make_args_schema(model, {f"p{i}": p.name for i, p in enumerate(named)}, frozenset(), catch_all, injected)


def _create(base: type[BaseModel], fields: Mapping[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model("Arguments", __base__=base, **fields)
    return model


def _check(where: str, parameter: Parameter, base: type[BaseModel], field: Mapping[str, Any]) -> None:
    """Fail for this one parameter, so that the error can name it."""
    try:
        model = _create(base, field)
        schema_of(model, frozenset())
    except (PydanticUserError, TypeError) as error:
        raise _unsayable(where, parameter, error) from error
    for info in model.model_fields.values():
        _check_default(where, parameter, info)


def _unsayable(where: str, parameter: Parameter, error: Exception) -> SchemaInferenceError:
    reason = str(error).partition("\n")[0]
    return SchemaInferenceError(f"{where}: parameter `{parameter.name}`: {reason} To mend it, {_ADVICE}.")


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


def _base(forbid_unknown: bool, **body: Any) -> type[BaseModel]:
    config = ConfigDict(extra="forbid" if forbid_unknown else "ignore")
    return type("Base", (BaseModel,), {"model_config": config, "__module__": __name__, **body})


def _open_base(where: str, catch_all: Parameter, descriptions: Mapping[str, str]) -> type[BaseModel]:
    """Make a model that takes free arguments of the type that `**kwargs` is annotated with."""
    annotation = Any if catch_all.annotation is EMPTY else _read_whole(catch_all.annotation)
    description = _described_free(annotation, descriptions.get(catch_all.name))
    if description is not None:
        annotation = Annotated[annotation, Field(description=description)]

    # A config with extra="allow" would open the dataclasses and typed dicts of the other parameters as well.
    def opened(_: type[BaseModel], source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema = handler(source)
        fields: Any = handler.resolve_ref_schema(schema)
        fields["schema"].update(extra_behavior="allow", extras_schema=handler.generate_schema(annotation))
        return schema

    try:
        base = _base(forbid_unknown=False, __get_pydantic_core_schema__=classmethod(opened))
        schema_of(base, frozenset())
    except (PydanticUserError, TypeError) as error:
        raise _unsayable(where, catch_all, error) from error
    return base


def _described_free(annotation: Any, documented: str | None) -> str | None:
    """Say where free arguments stand; those of any kind have no schema of their own that could say it."""
    documented = documented or _bare_text(annotation) or FieldInfo.from_annotation(annotation).description
    if documented is None:
        return None if annotation in (Any, object) else _FREE
    return f"{documented}{'' if documented.endswith(('.', '!', '?')) else '.'} {_FREE}"


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
    annotation = Any if parameter.annotation is EMPTY else _read_whole(parameter.annotation)
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
    is_union = typing.get_origin(plain) in (typing.Union, types.UnionType)
    return plain in (Any, object, None, type(None)) or (is_union and type(None) in typing.get_args(plain))


def _read_whole(annotation: Any) -> Any:
    """Put a list where pydantic would check the items of an Iterable only as the function reads them."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Iterable or annotation in (Iterable, typing.Iterable):
        return types.GenericAlias(list, parts or (Any,))
    if origin is Annotated:
        return Annotated[(_read_whole(parts[0]), *parts[1:])]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(map(_read_whole, parts))]  # noqa: UP007  made of what is known only here
    return annotation


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


def model_injections(where: str, args_schema: Any) -> tuple[Injection, ...]:
    """Plan the filling of the fields that the author's own model marks, of either pydantic; other schemas have none.

    Raises:
        SchemaInferenceError: An annotation names something that does not exist.
    """
    if is_v1_model(args_schema):
        return plan_v1_injections(where, args_schema)
    return plan_model_injections(args_schema) if isinstance(args_schema, type) else ()


def adopt_args_schema(
    where: str,
    model: type[BaseModel],
    parameters: Iterable[Parameter],
    supplied: frozenset[str],
    *,
    forbid_unknown: bool,
) -> ArgsSchema:
    """Take the author's own model as the arguments of a tool.

    Args:
        where: The tool's name and file, for errors.
        model: A pydantic model, of version 1 or 2.
        parameters: All parameters of the function.
        supplied: Names of the parameters that are injected.
        forbid_unknown: Whether an argument that the model does not have is refused.

    Raises:
        SchemaInferenceError: A field cannot be said in JSON Schema, or model and function do not fit together.
        InvalidToolOption: Unknown arguments are to be refused by a model that wants them.
    """
    is_v1 = is_v1_model(model)
    hidden = frozenset(injection.parameter for injection in model_injections(where, model))
    fields: Mapping[str, Any] = vars(model)["__fields__"] if is_v1 else model.model_fields
    _refuse_misfit(where, model.__name__, frozenset(fields), parameters, supplied)
    if forbid_unknown:
        model = _closed(where, model, v1_extra(model) if is_v1 else model.model_config.get("extra"))
    if is_v1:
        return make_v1_arguments(where, model, hidden, drops_unknown=not _is_open(parameters))
    try:
        return make_args_schema(model, {name: name for name in fields}, hidden, drops_unknown=not _is_open(parameters))
    except PydanticUserError as error:
        reason = str(error).partition("\n")[0]
        raise SchemaInferenceError(f"{where}: args_schema {model.__name__}: {reason}") from error


def _refuse_misfit(
    where: str, name: str, fields: frozenset[str], parameters: Iterable[Parameter], supplied: frozenset[str]
) -> None:
    accepted = {parameter.name for parameter in parameters if parameter.kind not in VARIADIC}
    unknown = frozenset() if _is_open(parameters) else fields - accepted
    missing = {p.name for p in parameters if p.required} - fields - supplied
    if unknown or missing:
        names = ", ".join(f"`{field}`" for field in sorted(unknown or missing))
        side = "the function does not take" if unknown else "the function requires but the model lacks"
        raise SchemaInferenceError(f"{where}: args_schema {name} has to match the function: {side} {names}.")


def _is_open(parameters: Iterable[Parameter]) -> bool:
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _closed(where: str, model: type[BaseModel], extra: str | None) -> type[BaseModel]:
    """Derive a model that refuses unknown fields; a keyword of the class means the same in both pydantics."""
    if extra == "allow":
        raise InvalidToolOption(
            f"{where}: unknown_args='forbid' and args_schema {model.__name__}, whose extra='allow' takes any argument,"
            " contradict each other; leave one of them out."
        )
    if extra == "forbid":
        return model
    name = f"{model.__name__}Arguments"
    said = {"extra": "forbid", "title": model.__name__}
    return types.new_class(name, (model,), said, lambda body: body.update(__module__=model.__module__))
