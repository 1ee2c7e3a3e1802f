"""Convert the context that a program sends to the type a tool declares: `ToolContext[User]`."""

import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from types import NoneType
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from typing_extensions import TypedDict, get_type_hints, is_typeddict

from sidecall.kernel.core.context import RunContextWrapper, ToolContext
from sidecall.kernel.core.errors import MissingContext, SchemaInferenceError, ToolExecutionError
from sidecall.kernel.core.incremental_validation import validate
from sidecall.kernel.core.injection import FromFunction, Supply
from sidecall.kernel.json_data.pointer import format_path

# What the OpenAI Agents SDK tells of the run that a call belongs to.
_OF_RUN = ("usage", "turn_input", "tool_input", "agent", "run_config", "tool_call", "tool_namespace")


class ObjectContext(dict[str, Any]):
    """A mapping of an object's fields; the tool gets the object itself."""

    def __init__(self, wrapped: Any, about: Mapping[str, Any] | None = None) -> None:
        """Wrap the object.

        Args:
            wrapped: It.
            about: What else the tool's ToolContext has.
        """
        super().__init__(_list_fields(wrapped))
        self._object = wrapped
        self._about = about or {}

    @classmethod
    def of(cls, context: RunContextWrapper[Any]) -> "ObjectContext":
        """Wrap the context of a ToolContext, such as one made in a test."""
        return cls(context.context, {name: getattr(context, name) for name in _OF_RUN})

    def put_into(self, made: ToolContext) -> ToolContext:
        """Return the ToolContext of a call with the wrapped object."""
        return replace(made, context=self._object, **self._about)


def read_context(given: Any, configured: Mapping[str, Any]) -> Mapping[str, Any]:
    """Combine the context that an in-process program passes with the `configurable` of its config."""
    if given is None or isinstance(given, Mapping):
        return given if isinstance(given, ObjectContext) else {**configured, **(given or {})}
    return ObjectContext(given)


def _list_fields(thing: Any) -> Mapping[str, Any]:
    if isinstance(thing, Mapping):
        return thing
    if is_dataclass(thing):
        return {field.name: getattr(thing, field.name) for field in fields(thing)}
    return dict(thing) if isinstance(thing, BaseModel) else getattr(thing, "__dict__", {})


# Makes of the context that was sent the one that the author has named.
ReadContext = Callable[[ToolContext], Any]


def plan_context(annotation: Any) -> FromFunction | type[ToolContext]:
    """Plan the injection of a ToolContext; without a type argument it gets the context as sent.

    Raises:
        SchemaInferenceError: The context can never be of the type, since JSON cannot say one of its fields.
    """
    read = plan_reading(annotation)
    if read is None:
        return ToolContext

    def make(supply: Supply) -> ToolContext[Any]:
        return supply.tool_context.with_context(read(supply.tool_context))

    return FromFunction(make)


def plan_reading(annotation: Any) -> ReadContext | None:
    """Plan how the context is converted for `ToolContext[...]`; None to leave it as sent.

    Raises:
        SchemaInferenceError: The context can never be of the type.
    """
    wanted = _find_wanted(annotation)
    if not names_context(annotation):
        return open_context if wanted is Any else None
    if wanted in (None, NoneType):
        return lambda _: None
    adapter = adapt_context(wanted)
    may_lack = NoneType in typing.get_args(wanted)

    def read(context: ToolContext) -> Any:
        if may_lack and not context.context:
            return None
        sent: Any = context.context
        if not isinstance(sent, Mapping):  # An object of this process.
            return _check(adapter, sent, context)
        made = _check(adapter, dict(sent), context)
        # Of a TypedDict pydantic keeps the keys that it names; other keys may be meant for another tool.
        return {**sent, **made} if is_typeddict(wanted) else made

    return read


def names_context(annotation: Any) -> bool:
    """Return whether `ToolContext[...]` names a type to convert the context to; None does not."""
    wanted = _find_wanted(annotation)
    is_open = wanted in (..., Any, object) or isinstance(wanted, typing.TypeVar) or hasattr(wanted, "__bound__")
    return not is_open


def _find_wanted(annotation: Any) -> Any:
    return next(iter(typing.get_args(annotation)), ...)


class OpenContext(dict[str, Any]):
    """A mapping context whose keys are attributes too, for functions that annotate it as Any."""

    def __getattr__(self, name: str) -> Any:
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(f"the context that was sent has no {name!r}") from None
        return OpenContext(value) if type(value) is dict else value


def open_context(context: ToolContext) -> Any:
    """Make the keys of a call's context attributes; an object of this process is unchanged."""
    return OpenContext(context.context) if isinstance(context.context, Mapping) else context.context


def adapt_context(wanted: Any) -> TypeAdapter[Any]:
    """Make what validates a context, or describes its type.

    Raises:
        SchemaInferenceError: The context can never be of the type.
    """
    try:
        return TypeAdapter(_rebuild(wanted) if is_typeddict(wanted) else wanted)
    except (PydanticUserError, PydanticUndefinedAnnotation, NameError) as error:
        reason = str(error).partition(". ")[0].partition("\n")[0]
        name = getattr(wanted, "__name__", str(wanted))
        text = f"a context that comes with a request cannot be made a {name}: {reason.rstrip('.')}"
        raise SchemaInferenceError(f"{text}. Make it a dataclass or a pydantic model of JSON values.") from None


def _rebuild(wanted: Any) -> Any:
    """Rebuild a TypedDict in the one form that pydantic accepts on every version of Python."""
    hints = {name: _strip(hint) for name, hint in get_type_hints(wanted, include_extras=True).items()}
    fields = {
        name: hint if name in wanted.__required_keys__ else typing.NotRequired[hint] for name, hint in hints.items()
    }
    return TypedDict(wanted.__name__, fields)  # type: ignore[operator]


def _strip(hint: Any) -> Any:
    while getattr(typing.get_origin(hint), "_name", None) in ("Required", "NotRequired", "ReadOnly"):
        hint = typing.get_args(hint)[0]
    return hint


def _check(adapter: TypeAdapter[Any], sent: Any, context: ToolContext) -> Any:
    try:
        return validate(adapter, sent)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = format_path(("context", *first["loc"]))
        text = f"The tool cannot use what was sent as `{where}`: {first['msg']}."
        if first["type"] == "missing":
            text = f"The tool needs `{where}` beside the call."
        raise MissingContext(text) from None
    except BaseException as error:  # A validator of the author's crashed.
        raise ToolExecutionError(context.tool_name, context.tool_call_id) from error
