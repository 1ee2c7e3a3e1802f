"""Find the parameters of a LangChain tool that the model does not supply."""

import dataclasses
import inspect
import typing
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from sidecall.compat.foreign.stores import type_store
from sidecall.compat.supplied import plan_runtime
from sidecall.kernel.core.injection import FromCaller, FromFunction, InjectedStore, InjectedToolArg, Supply
from sidecall.kernel.core.parameter import EMPTY, Parameter
from sidecall.kernel.schema.foreign import match_type
from sidecall.kernel.schema.injections import find_marker
from sidecall.kernel.schema.models import open_model
from sidecall.kernel.schema.signature import read_signature


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
