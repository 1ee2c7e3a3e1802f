"""Describe what a tool is given beside its arguments: by the calling program, a person, or the server's operator."""

import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import NoneType
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import is_typeddict

from sidecall.compiler.injection_plan import match_type
from sidecall.compiler.model_schema import render_type
from sidecall.kernel.core.context import RunContextWrapper
from sidecall.kernel.core.injection import InjectedFrom, InjectedParameter, Injection, Source
from sidecall.kernel.core.tool import Parameter, Schema
from sidecall.kernel.core.typed_context import adapt_context, names_context
from sidecall.kernel.schema.references import inline_references

_FROM: Mapping[Source, InjectedFrom] = {
    "state": "state",
    "context": "context",
    "caller": "context",
    "secret": "secret",
    "user_token": "token",
    "store": "store",
}
_TEXT: Schema = {"type": "string"}


def describe_injected(injections: Iterable[Injection], parameters: Iterable[Parameter]) -> list[InjectedParameter]:
    """Describe the injected parameters of a tool in their order.

    Parameters that the server fills for every call, such as the call's id, are left out.
    """
    annotations = {parameter.name: parameter.annotation for parameter in parameters}
    found: list[InjectedParameter] = []
    for injection in injections:
        if injection.source in _FROM:
            found.append(_describe(injection, _FROM[injection.source]))
        elif injection.source == "workspace" and injection.field is not None:
            found.append(_make(injection.parameter, "context", f"context.{injection.field}", _TEXT, required=False))
        elif injection.source == "made":
            found += _describe_typed(injection.parameter, annotations.get(injection.parameter))
    return found


def _make(name: str, source: InjectedFrom, path: str, schema: Schema, *, required: bool) -> InjectedParameter:
    return InjectedParameter(name=name, source=source, path=path, value_schema=dict(schema), required=required)


def _describe(injection: Injection, source: InjectedFrom) -> InjectedParameter:
    path = injection.place if source in ("state", "context") else injection.field or source
    schema: Schema = {} if source == "store" else _render(injection.adapter or injection.annotation)
    made = _make(injection.parameter, source, path, schema, required=injection.required)
    return made.model_copy(update={"of": injection.of}) if source == "secret" else made


def _describe_typed(name: str, annotation: Any) -> Iterator[InjectedParameter]:
    """Describe context and state of a parameter that names their types, as `ToolContext[User]` does."""
    plain = typing.get_origin(annotation) or annotation
    wanted: tuple[Any, ...] = ()
    if isinstance(plain, type) and issubclass(plain, RunContextWrapper):
        wanted = typing.get_args(annotation)[:1] if names_context(annotation) else ()
    elif match_type(plain) in ("tool_context", "tool_runtime"):
        wanted = typing.get_args(annotation)[:2]
    for source, kind in zip(_PLACES, wanted, strict=False):
        if not _is_open(kind):
            schema = _render(kind)
            # A runtime checks of a TypedDict only the keys that came.
            may_lack = NoneType in typing.get_args(kind) or (len(wanted) > 1 and is_typeddict(kind))
            yield _make(name, source, source, schema, required=not may_lack and _has_required(schema))


def _has_required(schema: Schema) -> bool:
    """Return whether an empty object does not fit."""
    flat = inline_references(schema)
    return bool(flat.get("required")) if flat.get("type") == "object" else bool(flat)


_PLACES: tuple[InjectedFrom, InjectedFrom] = ("context", "state")


def _is_open(kind: Any) -> bool:
    return kind in (None, NoneType, Any, object, ...) or isinstance(kind, typing.TypeVar)


def _render(wanted: Any) -> Schema:
    """Render the schema of a type, or of what validates it; `{}` where that is impossible."""
    # A type may have no JSON form, and authors' code makes the schemas of some.
    with suppress(Exception):
        return render_type(wanted if isinstance(wanted, TypeAdapter) else adapt_context(wanted))
    return {}
