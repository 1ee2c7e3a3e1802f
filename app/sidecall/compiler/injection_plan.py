"""Find injected parameters and fields, and plan how each is filled."""

import typing
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from sidecall.compiler.langchain_runtime import (
    choose_revival,
    make_async_run,
    make_callbacks,
    make_config,
    make_run,
    make_sync_run,
    plan_runtime,
)
from sidecall.compiler.signature import is_builtin
from sidecall.kernel.core.context import RunContextWrapper, ToolContext
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.injection import (
    FromCaller,
    FromFunction,
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    InjectedWorkspace,
    Injection,
    Secret,
    Source,
    Supply,
    UserToken,
    find_commands,
    find_python,
    leave_out,
)
from sidecall.kernel.core.tool import EMPTY, VARIADIC, Bound, Parameter
from sidecall.kernel.core.typed_context import plan_context
from sidecall.kernel.ports.sandbox import CommandSandbox, PythonSandbox
from sidecall.kernel.ports.secrets import SecretOwner
from sidecall.kernel.ports.store import Store
from sidecall.kernel.ports.workspaces import ConversationFolder

ForeignMarker = Literal["context", "call_id", "state", "store"]

ForeignType = Literal["tool_context", "tool_runtime", "runnable_config", "run", "async_run", "callbacks"]

# By package and class. These stand in the metadata of Annotated.
_MARKERS: Mapping[tuple[str, str], ForeignMarker] = {
    ("langchain_core", "InjectedToolArg"): "context",
    ("langchain_core", "InjectedToolCallId"): "call_id",
    ("langgraph", "InjectedState"): "state",
    ("langgraph", "InjectedStore"): "store",
}
# These are annotations themselves; ours of the same names stand for them.
_TYPES: Mapping[tuple[str, str], ForeignType] = {
    ("langgraph", "ToolRuntime"): "tool_runtime",
    ("sidecall", "ToolRuntime"): "tool_runtime",
    ("agents", "RunContextWrapper"): "tool_context",
    ("agents", "ToolContext"): "tool_context",
    ("langchain_core", "RunnableConfig"): "runnable_config",
    ("sidecall", "RunnableConfig"): "runnable_config",
    ("langchain_core", "CallbackManagerForToolRun"): "run",
    ("sidecall", "CallbackManagerForToolRun"): "run",
    ("langchain_core", "AsyncCallbackManagerForToolRun"): "async_run",
    ("sidecall", "AsyncCallbackManagerForToolRun"): "async_run",
    ("langchain_core", "BaseCallbackManager"): "callbacks",
    ("sidecall", "CallbackManager"): "callbacks",
}


def match_marker(part: Any) -> ForeignMarker | None:
    """Return what an annotation's metadata injects, if it is a marker or an instance of one."""
    kind = part if isinstance(part, type) else type(part)
    return next((_MARKERS[name] for name in _list_names(kind) if name in _MARKERS), None)


def match_type(annotation: Any) -> ForeignType | None:
    """Return what a parameter of this type has injected, if its library injects that type."""
    if not isinstance(annotation, type):
        return None
    return next((_TYPES[name] for name in _list_names(annotation) if name in _TYPES), None)


def is_store_type(annotation: Any) -> bool:
    """Return whether this is LangGraph's store class, or a subclass."""
    return isinstance(annotation, type) and ("langgraph", "BaseStore") in _list_names(annotation)


def is_message_type(annotation: Any) -> bool:
    """Return whether this is LangChain's base class of messages."""
    return isinstance(annotation, type) and _list_names(annotation)[0] == ("langchain_core", "BaseMessage")


def is_instance_of(thing: Any, package: str, name: str) -> bool:
    """Return whether an object's class, or a base class, has this name in this package."""
    return (package, name) in _list_names(type(thing))


def _list_names(kind: type) -> list[tuple[str, str]]:
    return [(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__]


def find_marker(annotation: Any) -> InjectedToolArg | type[ToolContext] | None:
    """Find the injection marker anywhere in the annotation (`Optional`, nested `Annotated`)."""
    plain = typing.get_origin(annotation) or annotation
    if isinstance(plain, type) and issubclass(plain, RunContextWrapper):
        return plan_context(annotation)
    if isinstance(plain, type) and plain in _SANDBOXES:
        return FromFunction(_SANDBOXES[plain])
    if isinstance(plain, type) and issubclass(plain, ConversationFolder):
        return InjectedWorkspace()
    known = match_type(plain)
    if known is not None:
        return _TYPED[known](annotation)
    found = [marker for part in _list_parts(annotation) if (marker := _read_marker(part)) is not None]
    # `Annotated[RunnableConfig, InjectedToolArg]` only hides what its type asks for.
    return next((marker for marker in found if type(marker) is not InjectedToolArg), found[0] if found else None)


# What a parameter of a type is given that its library fills in.
_TYPED: Mapping[ForeignType, Callable[[Any], InjectedToolArg | type[ToolContext]]] = {
    "tool_context": plan_context,
    "tool_runtime": lambda wanted: plan_runtime(wanted),
    "runnable_config": lambda _: FromFunction(make_config),
    "run": lambda _: FromFunction(make_sync_run),
    "async_run": lambda _: FromFunction(make_async_run),
    "callbacks": lambda _: FromFunction(make_callbacks),
}

_SANDBOXES: Mapping[Any, Callable[[Supply], Any]] = {CommandSandbox: find_commands, PythonSandbox: find_python}
# What LangChain fills in by its name, where no type says otherwise.
_NAMED: Mapping[str, Callable[[Supply], Any]] = {
    "run_manager": lambda supply: make_run(supply),
    "callbacks": lambda supply: make_callbacks(supply),
}


def _read_marker(part: Any) -> InjectedToolArg | type[ToolContext] | None:
    if isinstance(part, InjectedToolArg):
        return part
    if part is Secret:
        raise SchemaInferenceError("a Secret needs a name: Annotated[str, Secret('API_KEY')].")
    if part is UserToken:
        raise SchemaInferenceError("a UserToken needs a provider: Annotated[str, UserToken('github')].")
    if isinstance(part, type) and issubclass(part, InjectedToolArg):
        return part()
    if part is Bound:
        return FromFunction(leave_out)
    known = match_marker(part)
    if known == "state":
        marker = InjectedState(getattr(part, "field", None))
        marker.home = (part if isinstance(part, type) else type(part)).__module__
        return marker
    return find_marker(part) if known is None else _OURS[known]()


# What does for a parameter what another library's marker asks for.
_OURS: Mapping[str, Callable[[], InjectedToolArg]] = {
    "context": InjectedToolArg,
    "call_id": InjectedToolCallId,
    "store": InjectedStore,
}


def _list_parts(annotation: Any) -> Iterable[Any]:
    return (*getattr(annotation, "__metadata__", ()), *typing.get_args(annotation))


def plan_injections(parameters: Iterable[Parameter]) -> tuple[Injection, ...]:
    """Plan the injection of all hidden parameters of a function, at registration.

    Raises:
        SchemaInferenceError: `*args` or `**kwargs` is marked.
    """
    found = ((parameter, _find_marker_of(parameter)) for parameter in parameters)
    return tuple(_plan(parameter, marker) for parameter, marker in found if marker is not None)


def _find_marker_of(parameter: Parameter) -> InjectedToolArg | type[ToolContext] | None:
    if parameter.name in _NAMED and parameter.annotation in _UNTYPED:
        return FromFunction(_NAMED[parameter.name])
    if is_builtin(parameter.annotation):
        return None
    try:
        return find_marker(parameter.annotation)
    except SchemaInferenceError as error:
        raise SchemaInferenceError(f"parameter `{parameter.name}`: {error.message}") from error


_UNTYPED = (EMPTY, Any, typing.Optional[Any])  # noqa: UP045  as authors write it


def _plan(parameter: Parameter, marker: InjectedToolArg | type[ToolContext]) -> Injection:
    source, field = _choose_source(parameter.name, marker)
    if parameter.kind in VARIADIC:
        raise SchemaInferenceError(f"parameter `{parameter.name}` takes any number of values and cannot be injected.")
    if source == "call_id":
        _refuse_other_than_text(parameter.name, parameter.annotation)
    annotation = parameter.annotation
    if isinstance(marker, InjectedState) and _takes_any_messages(annotation, field):
        annotation = Annotated[annotation, BeforeValidator(choose_revival(marker.home, field and "messages"))]
    adapter = _make_adapter(annotation) if source in _CHECKED else None
    return Injection(
        parameter.name, source, field, parameter.required, adapter, *_choose_rest(marker), parameter.annotation
    )


_CHECKED: tuple[Source, ...] = ("context", "state", "secret", "user_token", "caller")


# What takes the state, or the messages in it, as they are: no type of its own says what the messages are.
_STATES = (dict, Mapping, MutableMapping)

_LISTS = (list, Sequence, MutableSequence, Iterable)


def _takes_any_messages(annotation: Any, field: str | None) -> bool:
    """Return whether a parameter takes the state, or messages in it, without a type for the messages.

    LangChain's BaseMessage does not count as one, since pydantic would make it of any message.
    """
    plain = annotation
    while typing.get_origin(plain) is Annotated:
        plain = typing.get_args(plain)[0]
    kinds = [it for it in typing.get_args(plain) if it is not NoneType] if _is_union(plain) else [plain]
    if field is None:
        return any(kind is Any or (typing.get_origin(kind) or kind) in _STATES for kind in kinds)
    return any(_is_any_list(kind, field) for kind in kinds)


def _is_union(plain: Any) -> bool:
    return typing.get_origin(plain) in (typing.Union, UnionType)


def _is_any_list(plain: Any, field: str) -> bool:
    if typing.get_args(plain) and is_message_type(typing.get_args(plain)[0]):
        return True
    is_open = plain is Any or all(it is Any for it in typing.get_args(plain))
    return field == "messages" and is_open and (plain is Any or (typing.get_origin(plain) or plain) in _LISTS)


def _refuse_other_than_text(name: str, annotation: Any) -> None:
    plain = annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation
    try:
        _make_adapter(plain).validate_python("call_1")
    except ValidationError:
        shown = getattr(plain, "__name__", str(plain))
        text = f"parameter `{name}`: the id of a call is a text; write Annotated[str, InjectedToolCallId], not {shown}."
        raise SchemaInferenceError(text) from None


def _make_adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(annotation)
    except PydanticSchemaGenerationError:
        # An object that only a caller in this process can supply; it is checked by isinstance.
        return TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=True))


def plan_field_injections(model: type[BaseModel]) -> tuple[Injection, ...]:
    """Plan the injection of fields that the author's model marks; the model validates the values itself."""
    fields = [(name, field, find_marker(rebuild_annotation(field))) for name, field in model.model_fields.items()]
    for name, field, marker in fields:
        if isinstance(marker, InjectedToolCallId):
            _refuse_other_than_text(name, rebuild_annotation(field))
    return tuple(
        _make_injection(name, marker, is_required=field.is_required(), annotation=rebuild_annotation(field))
        for name, field, marker in fields
        if marker is not None
    )


def _make_injection(
    name: str, marker: InjectedToolArg | type[ToolContext], *, is_required: bool, annotation: Any
) -> Injection:
    source, field = _choose_source(name, marker)
    make, of, adapt = _choose_rest(marker)
    return Injection(name, source, field, is_required, None, make, of, adapt, annotation)


def rebuild_annotation(field: FieldInfo) -> Any:
    """Rebuild a field's annotation, with its metadata."""
    return Annotated[field.annotation, *field.metadata, None]


def _choose_rest(
    marker: InjectedToolArg | type[ToolContext],
) -> tuple[Callable[[Supply], Any] | None, SecretOwner, Callable[[Store], Any] | None]:
    adapt = marker.adapt if isinstance(marker, InjectedStore) else None
    return getattr(marker, "make", None), marker.of if isinstance(marker, Secret) else "either", adapt


def _choose_source(name: str, marker: InjectedToolArg | type[ToolContext]) -> tuple[Source, str | None]:
    if isinstance(marker, type):
        return "tool_context", None
    if isinstance(marker, InjectedState):
        return "state", marker.field
    if isinstance(marker, InjectedWorkspace):
        return "workspace", marker.lasting
    if isinstance(marker, Secret):
        return "secret", marker.name
    if isinstance(marker, UserToken):
        return "user_token", marker.provider
    if isinstance(marker, FromCaller):
        return "caller", name
    return next(((source, None) for kind, source in _MADE_HERE.items() if isinstance(marker, kind)), ("context", name))


_MADE_HERE: Mapping[type[InjectedToolArg], Source] = {
    InjectedToolCallId: "call_id",
    InjectedStore: "store",
    FromFunction: "made",
}
