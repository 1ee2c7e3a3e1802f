"""Mark the parameters that the caller or the server fills in, never the model."""

import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from app.core.context import ToolContext
from app.core.errors import MissingContext, SchemaInferenceError, field_path
from app.core.signature import VARIADIC, Parameter
from app.core.store import Store


class InjectedToolArg:
    """Hide a parameter from the model; its value comes from `context` beside the call."""


class InjectedToolCallId(InjectedToolArg):
    """Hide a parameter and fill it with the id of the call."""


class InjectedState(InjectedToolArg):
    """Hide a parameter and fill it with the caller's `state`, or with one field of it."""

    def __init__(self, field: str | None = None) -> None:
        """Inject the whole state, or the field of this name."""
        self.field = field


class InjectedStore(InjectedToolArg):
    """Hide a parameter and fill it with the store."""


_ABSENT = object()

Source = Literal["context", "call_id", "state", "store", "tool_context"]


@dataclass(frozen=True, slots=True)
class Supply:
    """Hold what one call may be given besides its arguments; `tool_context` is what a ToolContext parameter gets."""

    call_id: str
    state: Any
    context: Mapping[str, Any]
    tool_context: ToolContext


@dataclass(frozen=True, slots=True)
class Injection:
    """Plan how one hidden parameter is filled.

    `adapter` checks what the caller sent against the annotation; what the server makes itself needs no check.
    """

    parameter: str
    source: Source
    field: str | None
    required: bool
    adapter: TypeAdapter[Any] | None

    def fill(self, values: dict[str, Any], supply: Supply) -> None:
        """Add this parameter's value to `values`; leave it out when the function's default is to be used.

        Raises:
            MissingContext: The caller sent nothing for it and it has no default, or what it sent does not fit.
        """
        if self.source == "call_id":
            values[self.parameter] = supply.call_id
        elif self.source == "tool_context":
            values[self.parameter] = supply.tool_context
        elif self.source == "store":
            self._fill_store(values, supply.tool_context.store)
        else:
            self._fill_from_caller(values, supply.state if self.source == "state" else supply.context)

    def _fill_store(self, values: dict[str, Any], store: Store | None) -> None:
        if store is not None:
            values[self.parameter] = store
        elif self.required:
            raise MissingContext(f"The tool needs a store for its parameter `{self.parameter}`, and there is none.")

    def _fill_from_caller(self, values: dict[str, Any], given: Any) -> None:
        if self.field is not None:
            given = given.get(self.field, _ABSENT) if isinstance(given, Mapping) else _ABSENT
        elif given is None:
            given = _ABSENT
        if given is not _ABSENT:
            values[self.parameter] = self._checked(given)
        elif self.required:
            raise MissingContext(
                f"The tool needs `{self.place}` beside the call, for its parameter `{self.parameter}`."
            )

    @property
    def place(self) -> str:
        """Where the caller writes the value, for instance `state.user_id`."""
        return f"{self.source}.{self.field}" if self.field else self.source

    def _checked(self, value: Any) -> Any:
        if self.adapter is None:
            return value
        try:
            return self.adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = field_path((self.place, *first["loc"]))
            raise MissingContext(f"The tool cannot use what was sent as `{where}`: {first['msg']}.") from None


def find_marker(annotation: Any) -> InjectedToolArg | type[ToolContext] | None:
    """Find the marker of an injected parameter, wherever it sits in the annotation (`Optional`, nested `Annotated`)."""
    plain = typing.get_origin(annotation) or annotation
    if isinstance(plain, type) and issubclass(plain, ToolContext):
        return plain
    for part in _parts(annotation):
        if isinstance(part, InjectedToolArg):
            return part
        if isinstance(part, type) and issubclass(part, InjectedToolArg):
            return part()
        found = find_marker(part)
        if found is not None:
            return found
    return None


def _parts(annotation: Any) -> Iterable[Any]:
    return (*getattr(annotation, "__metadata__", ()), *typing.get_args(annotation))


def plan_injections(parameters: Iterable[Parameter]) -> tuple[Injection, ...]:
    """Plan the filling of every hidden parameter of a function, once, when the tool is registered.

    Raises:
        SchemaInferenceError: `*args` or `**kwargs` is marked.
    """
    found = ((parameter, find_marker(parameter.annotation)) for parameter in parameters)
    return tuple(_plan(parameter, marker) for parameter, marker in found if marker is not None)


def _plan(parameter: Parameter, marker: InjectedToolArg | type[ToolContext]) -> Injection:
    source, field = _source(parameter.name, marker)
    if parameter.kind in VARIADIC:
        raise SchemaInferenceError(f"parameter `{parameter.name}` takes any number of values and cannot be injected.")
    adapter = _adapter(parameter.annotation) if source in ("context", "state") else None
    return Injection(parameter.name, source, field, parameter.required, adapter)


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(annotation)
    except PydanticSchemaGenerationError:
        # An object that only a caller in this process can supply; it is checked by isinstance.
        return TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=True))


def plan_model_injections(model: type[BaseModel]) -> tuple[Injection, ...]:
    """Plan the filling of the fields that the author's own model marks; the model checks the values itself."""
    fields = ((name, field, find_marker(annotation_of(field))) for name, field in model.model_fields.items())
    return tuple(
        Injection(name, *_source(name, marker), required=field.is_required(), adapter=None)
        for name, field, marker in fields
        if marker is not None
    )


def annotation_of(field: FieldInfo) -> Any:
    """Put a field's annotation together again, metadata included."""
    return Annotated[field.annotation, *field.metadata, None]


def _source(name: str, marker: InjectedToolArg | type[ToolContext]) -> tuple[Source, str | None]:
    if isinstance(marker, type):
        return "tool_context", None
    if isinstance(marker, InjectedToolCallId):
        return "call_id", None
    if isinstance(marker, InjectedState):
        return "state", marker.field
    if isinstance(marker, InjectedStore):
        return "store", None
    return "context", name
