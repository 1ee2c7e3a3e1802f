"""Find the parameters of a LangChain tool that the model does not supply."""

import dataclasses
import inspect
import typing
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from sidecall.compiler.argument_models import open_model
from sidecall.compiler.injection_plan import find_marker, is_store_type, match_type
from sidecall.compiler.langchain_runtime import plan_runtime
from sidecall.compiler.signature import read_signature
from sidecall.kernel.core.injection import FromCaller, FromFunction, InjectedStore, InjectedToolArg, Supply
from sidecall.kernel.core.tool import EMPTY, Parameter
from sidecall.kernel.ports.store import Store


def plan_hidden(it: Any, model: Any) -> dict[str, Parameter]:
    """Plan the injection of parameters that are hidden from the language model.

    Args:
        it: The LangChain tool.
        model: The model of everything it takes; None where a JSON Schema says what the model may fill.
    """
    found = {} if model is None else dict(_find_hidden_fields(it, model))
    return {**dict(_find_marked_parameters(it)), **found}


def _find_hidden_fields(it: Any, model: Any) -> Iterator[tuple[str, Parameter]]:
    shown = open_model(it.tool_call_schema).aliases
    whole = open_model(model)
    for name, annotation in whole.read_annotations().items():
        # LangChain shows some that only it can fill, such as a config.
        if name not in shown or find_marker(annotation) is not None:
            yield name, _plan(name, annotation, is_required=name in whole.required)


def _find_marked_parameters(it: Any) -> Iterator[tuple[str, Parameter]]:
    """List the marked parameters of its function; LangChain itself supplies a config and callbacks."""
    written = [function for function in (getattr(it, "func", None), getattr(it, "coroutine", None)) if function]
    for function in written or [it._run, it._arun]:
        for parameter in _read_parameters(function):
            marker = find_marker(parameter.annotation)
            if not isinstance(marker, FromFunction | None) or _find_runtime_type(parameter.annotation) is not None:
                yield parameter.name, _plan(parameter.name, parameter.annotation, is_required=parameter.required)


def _read_parameters(function: Any) -> tuple[Parameter, ...]:
    try:
        return read_signature(function).parameters
    except (NameError, ValueError):
        # LangChain offers such a tool too: what it takes, its model says.
        return ()


def _plan(name: str, annotation: Any, *, is_required: bool) -> Parameter:
    default = EMPTY if is_required else None
    return Parameter(name, inspect.Parameter.KEYWORD_ONLY, _mark(annotation), default)


def _mark(annotation: Any) -> Any:
    """Mark a type with our marker; without a marked source it is filled from the caller's context and state."""
    marker: Any = find_marker(annotation)
    runtime = _find_runtime_type(annotation)
    if runtime is not None:
        marker = FromFunction(partial(_make_runtime, typing.get_origin(runtime) or runtime, plan_runtime(runtime)))
    elif marker is None or type(marker) is InjectedToolArg:
        marker = FromCaller()
    elif isinstance(marker, InjectedStore):
        marker = type_store(marker, annotation)
    plain = annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation
    return Annotated[plain, marker]


def _find_runtime_type(annotation: Any) -> Any:
    plain = typing.get_origin(annotation) or annotation
    if match_type(plain) == "tool_runtime" and dataclasses.is_dataclass(plain):
        return annotation
    return next(
        (found for part in typing.get_args(annotation) if (found := _find_runtime_type(part)) is not None), None
    )


def _make_runtime(kind: Any, runtime: FromFunction, supply: Supply) -> Any:
    """Make LangGraph's runtime object for a tool."""
    known = runtime.make(supply)
    known.context = known.context or None  # As LangGraph has it where there is none.
    names = [field.name for field in dataclasses.fields(kind) if hasattr(known, field.name)]
    return kind(**{name: getattr(known, name) for name in names})


class TypedStore:
    """A store that passes for LangGraph's, since LangChain checks the class of what a tool gets."""

    def __init__(self, store: Store, kind: type) -> None:
        """Wrap the store for the requested class."""
        self._store = store
        self._kind = kind

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._kind

    def __reduce__(self) -> Any:
        return TypedStore, (self._store, self._kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._store, name)


class InjectedTypedStore(InjectedStore):
    """Hide a parameter and fill it with the store, as an instance of this class."""

    def __init__(self, kind: type) -> None:
        """Set the class of the store."""
        self._kind = kind

    def adapt(self, store: Store) -> Any:
        """Return the store as an instance of the class; a program's own store may be one already."""
        return store if isinstance(store, self._kind) else TypedStore(store, self._kind)


def type_store(marker: InjectedStore, annotation: Any) -> InjectedStore:
    """Set the store class of a marker, if the annotation names LangGraph's."""
    kind = _find_store_type(annotation)
    return marker if kind is None else InjectedTypedStore(kind)


def _find_store_type(annotation: Any) -> type | None:
    if is_store_type(annotation):
        return typing.cast("type", annotation)
    found = (_find_store_type(part) for part in typing.get_args(annotation))
    return next((kind for kind in found if kind is not None), None)
