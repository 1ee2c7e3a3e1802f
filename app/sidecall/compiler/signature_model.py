"""Make the pydantic model of a tool's arguments from its signature."""

import inspect
import math
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, Unpack

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

from sidecall.compiler.injection_plan import rebuild_annotation
from sidecall.compiler.model_schema import make_args_schema, render_schema
from sidecall.compiler.signature import is_builtin, is_resolved
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.tool import EMPTY, INFERRED, Parameter, Schema
from sidecall.kernel.schema.model_args_schema import ModelArgsSchema

# What most tools take and return, said as pydantic says it.
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_VALIDATING = ConfigDict(validate_default=True)
_FREE = "Further arguments, each under its own name beside the others."
_UNPACKED = (
    "Unpack[...] is not read; write its keys as keyword-only parameters, or take one parameter of that TypedDict."
)
_ADVICE = "use a type that JSON can say, or hide the parameter with Annotated[..., InjectedToolArg]"


def infer_args_schema(
    where: str,
    parameters: Iterable[Parameter],
    descriptions: Mapping[str, str],
    injected: frozenset[str],
    *,
    forbid_unknown: bool,
) -> ModelArgsSchema:
    """Make the model of the parameters that the model may fill.

    Fields get safe internal names with the parameters' names as aliases, so that any parameter name works, also
    `model_config` and `_x`.

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
    if catch_all is not None and typing.get_origin(catch_all.annotation) is Unpack:
        raise SchemaInferenceError(f"{where}: parameter `{catch_all.name}`: {_UNPACKED}")
    base = _get_base(forbid_unknown) if catch_all is None else _make_open_base(where, catch_all, descriptions)
    fields = {f"p{i}": _make_field(where, it, descriptions.get(it.name)) for i, it in enumerate(named)}
    try:
        model = _create(base, fields)
        converted = _convert_defaults(model.model_fields)
        if converted:
            fields |= {name: (fields[name][0], value) for name, value in converted.items()}
            model = _create(base, fields)
        names = {f"p{i}": p.name for i, p in enumerate(named)}
        said = None if catch_all is not None or converted else _say_plainly(named, descriptions, forbid_unknown)
        made = make_args_schema(model, names, frozenset(), catch_all, injected, said=said)
    except (PydanticUserError, TypeError, ValidationError):
        for parameter, (name, field) in zip(named, fields.items(), strict=True):
            _check(where, parameter, base, {name: field})
        raise
    alone = frozenset(p.name for p in named if p.kind is inspect.Parameter.POSITIONAL_ONLY)
    if made.catch_all is None or not alone:
        return made
    return replace(made, catch_all=replace(made.catch_all, positional=alone))


def _create(base: type[BaseModel], fields: Mapping[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(INFERRED, __base__=base, **fields)
    return model


def _check(where: str, parameter: Parameter, base: type[BaseModel], field: Mapping[str, Any]) -> None:
    """Check this one parameter alone, so that the error can name it."""
    try:
        model = _create(base, field)
        render_schema(model, frozenset())
    except (PydanticUserError, TypeError) as error:
        raise _make_error(where, parameter, error) from error
    try:
        _convert_defaults(model.model_fields)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        text = f"{where}: parameter `{parameter.name}`: its default does not fit its type: {reason}."
        raise SchemaInferenceError(text) from error


def _make_error(where: str, parameter: Parameter, error: object) -> SchemaInferenceError:
    reason = str(error).partition("\n")[0]
    return SchemaInferenceError(f"{where}: parameter `{parameter.name}`: {reason} To mend it, {_ADVICE}.")


def _say_plainly(
    parameters: Iterable[Parameter], descriptions: Mapping[str, str], forbid_unknown: bool
) -> Schema | None:
    """Say parameters of plain types in JSON Schema, for which pydantic takes longest; None where one has another."""
    properties: Schema = {}
    required = []
    for it in parameters:
        kind, default = it.annotation, it.default
        if not _is_plain(it):
            return None
        if default is EMPTY:
            required.append(it.name)
        properties[it.name] = {
            **({} if default is EMPTY else {"default": default}),
            **({"description": descriptions[it.name]} if descriptions.get(it.name) else {}),
            "type": JSON_TYPES[kind],
        }
    closed = {"additionalProperties": False} if forbid_unknown else {}
    return {"type": "object", "properties": properties, **({"required": required} if required else {}), **closed}


def _is_plain(parameter: Parameter) -> bool:
    """Return whether a parameter is of a plain type alone, and so is its default."""
    kind, default = parameter.annotation, parameter.default
    if not is_builtin(kind) or kind not in JSON_TYPES or parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return False
    return default is EMPTY or (type(default) is kind and (kind is not float or math.isfinite(default)))


def _convert_defaults(fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Validate the defaults, and return those that change when converted to the field's type."""
    # A factory is not called: it may open something.
    said = {
        name: it
        for name, it in fields.items()
        if not (it.is_required() or it.default_factory is not None)
        and (it.metadata or not _surely_fits(it.annotation, it.default))
    }
    if not said:
        return {}
    values: Any = {name: (rebuild_annotation(field), field.default) for name, field in said.items()}
    read = create_model("Defaults", __config__=_VALIDATING, **values)().__dict__
    return {name: read[name] for name, field in said.items() if _is_converted(read[name], field.default)}


def _surely_fits(kind: Any, default: Any) -> bool:
    """Return whether a default is what its type has without any condition, as most are: None, or of a plain type."""
    if default is None:
        return _takes_none(kind)
    if typing.get_origin(kind) is Literal:
        return any(type(default) is type(it) and default == it for it in typing.get_args(kind))
    return type(default) is kind and kind in JSON_TYPES


def _is_converted(value: Any, default: Any) -> bool:
    """Return whether a default has changed its type; an int for a float does not count."""
    if isinstance(default, type(value)) or (type(default) is int and type(value) is float):
        return False
    return not hasattr(value, "__next__")  # Which one call would use up for all others.


@cache
def _get_base(forbid_unknown: bool) -> type[BaseModel]:
    """Return the base of all models without free arguments."""
    return _make_base(forbid_unknown)


def _make_base(forbid_unknown: bool, **body: Any) -> type[BaseModel]:
    config = ConfigDict(extra="forbid" if forbid_unknown else "ignore")
    return type("Base", (BaseModel,), {"model_config": config, "__module__": __name__, **body})


def _make_open_base(where: str, catch_all: Parameter, descriptions: Mapping[str, str]) -> type[BaseModel]:
    """Make a model that accepts free arguments of the type of `**kwargs`."""
    annotation = Any if catch_all.annotation is EMPTY else _read_whole(catch_all.annotation)
    description = _describe_free(annotation, descriptions.get(catch_all.name))
    if description is not None:
        annotation = Annotated[annotation, Field(description=description)]

    # A config with extra="allow" would open the dataclasses and typed dicts of the other parameters as well.
    def open_fields(_: type[BaseModel], source: Any, handler: GetCoreSchemaHandler) -> Any:
        schema = handler(source)
        fields: Any = handler.resolve_ref_schema(schema)
        fields["schema"].update(extra_behavior="allow", extras_schema=handler.generate_schema(annotation))
        return schema

    try:
        base = _make_base(forbid_unknown=False, __get_pydantic_core_schema__=classmethod(open_fields))
        render_schema(base, frozenset())
    except (PydanticUserError, TypeError) as error:
        raise _make_error(where, catch_all, error) from error
    return base


def _describe_free(annotation: Any, documented: str | None) -> str | None:
    """Describe free arguments in the model's description; those of any type have no schema of their own."""
    documented = documented or _find_text(annotation) or FieldInfo.from_annotation(annotation).description
    if documented is None:
        return None if annotation in (Any, object) else _FREE
    return f"{documented}{'' if documented.endswith(('.', '!', '?')) else '.'} {_FREE}"


def _make_field(where: str, parameter: Parameter, documented: str | None) -> tuple[Any, Any]:
    """Make one field.

    The description is the docstring's, else the first text in Annotated, else the Field's, as in both SDKs.
    """
    annotation, default = _read_declaration(parameter)
    if is_resolved(annotation) and (default is EMPTY or _surely_fits(annotation, default)):
        # As most are, which say nothing else.
        given = ... if default is EMPTY else default
        return annotation, Field(given, description=documented or None, validation_alias=parameter.name)
    merged = FieldInfo.from_annotation(annotation)
    added: dict[str, Any] = {
        "description": documented or _find_text(parameter.annotation) or merged.description,
        "validation_alias": _choose_alias(parameter.name, merged),
    }
    if default is EMPTY and merged.default_factory is not None:
        added["default_factory"] = merged.default_factory
    if default is EMPTY:
        default = ... if merged.is_required() or merged.default_factory else merged.default
    try:
        return Annotated[annotation, Field(**added)], default
    except (TypeError, AttributeError) as error:
        raise _make_error(where, parameter, f"its annotation {annotation!r} is no type.") from error


def _read_declaration(parameter: Parameter) -> tuple[Any, Any]:
    """Split a parameter into an annotation and a default; a Field as the default is added to the annotation."""
    annotation = Any if parameter.annotation is EMPTY else _read_whole(parameter.annotation)
    default = parameter.default
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return Annotated[types.GenericAlias(list, (annotation,)), Field(default_factory=list)], EMPTY
    if isinstance(default, FieldInfo):
        return Annotated[annotation, default], EMPTY
    if default is None and not _takes_none(annotation):
        # `limit: int = None` is how many authors write an optional parameter.
        return _allow_none(annotation), None
    return annotation, default


def _takes_none(annotation: Any) -> bool:
    plain = annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation
    is_union = typing.get_origin(plain) in (typing.Union, types.UnionType)
    return plain in (Any, object, None, type(None)) or (is_union and type(None) in typing.get_args(plain))


def _read_whole(annotation: Any) -> Any:
    """Replace Iterable by list, since pydantic would validate an Iterable's items lazily."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Iterable or annotation in (Iterable, typing.Iterable):
        return types.GenericAlias(list, parts or (Any,))
    if origin is Annotated:
        return Annotated[(_read_whole(parts[0]), *parts[1:])]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(map(_read_whole, parts))]  # noqa: UP007  made of what is known only here
    return annotation


def _allow_none(annotation: Any) -> Any:
    """Allow null; descriptions stay outside, validators inside."""
    metadata = getattr(annotation, "__metadata__", ())
    plain = annotation.__origin__ if metadata else annotation
    said = tuple(part for part in metadata if isinstance(part, (str, FieldInfo)))
    checks = tuple(part for part in metadata if not isinstance(part, (str, FieldInfo)))
    nullable: Any = typing.Optional[Annotated[(plain, *checks)] if checks else plain]  # noqa: UP045  `|` refuses text
    return Annotated[(nullable, *said)] if said else nullable


def _find_text(annotation: Any) -> str | None:
    """Return the first text in Annotated: a plain one, or `Doc("...")` of PEP 727."""
    metadata = getattr(annotation, "__metadata__", ())
    texts = (getattr(part, "documentation", part) for part in metadata)
    return next((text for text in texts if isinstance(text, str)), None)


def _choose_alias(name: str, merged: FieldInfo) -> AliasChoices | str:
    """Advertise the author's alias, and also accept the parameter's own name."""
    own = merged.validation_alias
    if own is None:
        return name
    choices = own.choices if isinstance(own, AliasChoices) else [own]
    return AliasChoices(*choices, name)
