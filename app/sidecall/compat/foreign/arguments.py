"""Validate arguments that another library will read again."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from sidecall.kernel.authoring.overrides import only_refuses
from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.tool import EMPTY, ArgsSchema, Parameter, Schema
from sidecall.kernel.ports.approvals.questions import list_named
from sidecall.kernel.schema.explain import list_details, make_field_errors
from sidecall.kernel.schema.injections import is_instance_of
from sidecall.kernel.schema.models import adopt_args_schema, open_model

_ANY = (Parameter("arguments", inspect.Parameter.VAR_KEYWORD, EMPTY, EMPTY),)


@dataclass(frozen=True, slots=True)
class PassThroughArgsSchema:
    """The arguments of another library's tool: validated by a model, and passed on as sent.

    The library reads them by the same model, and validated values cannot always be validated again. `inner` has the
    fields that are shown, `read` all of them. `names` are the names of `read`'s fields.
    """

    inner: ArgsSchema
    read: Callable[[Any], Any]
    names: Mapping[str, str]
    hidden: Mapping[str, str]

    @property
    def json_schema(self) -> Schema:
        """The JSON Schema shown by `GET /tools/{name}`."""
        return self.inner.json_schema

    @property
    def flat(self) -> Schema:
        """The JSON Schema sent to models."""
        return self.inner.flat

    @property
    def reserved(self) -> frozenset[str]:
        """Names that a model must not use."""
        return frozenset((*self.hidden, *self.hidden.values()))

    @property
    def most_at_once(self) -> int:
        """How many values are validated without others having a turn."""
        return self.inner.most_at_once

    def in_steps(self) -> "PassThroughArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""
        return replace(self, inner=self.inner.in_steps())

    def drop_unknown(self) -> "PassThroughArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return replace(self, inner=self.inner.drop_unknown())

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values under the model's own names."""
        return dict(values)

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments, and return them unchanged if nothing had to be repaired.

        Raises:
            InvalidArguments: One entry per offending field.
        """
        mended, dropped = len(repaired), len(ignored)
        checked = self.inner.validate(args, injected, repaired, ignored)
        supplied = {name: injected[field] for field, name in self.hidden.items() if field in injected}
        made = {self.names.get(field, field): value for field, value in checked.items()} | supplied
        if len(repaired) > mended and self._bears(made):
            return made
        sent = {name: value for name, value in args.items() if name not in ignored[dropped:]} | supplied
        fault = self._find_fault(sent)
        if fault is None:
            return sent
        if self._bears(made):
            return made
        raise InvalidArguments(make_field_errors(list_details(fault), self.flat, sent), lambda: fault) from None

    def _find_fault(self, sent: Mapping[str, Any]) -> ValidationError | None:
        try:
            self.read(sent)
        except ValidationError as error:
            return error
        return None

    def _bears(self, made: Mapping[str, Any]) -> bool:
        """Return whether validated values can be validated again; validators may crash on their own results."""
        try:
            self.read(made)
        except Exception:
            return False
        return True


def make_pass_through(where: str, model: Any, hidden: frozenset[str], *, forbid_unknown: bool) -> PassThroughArgsSchema:
    """Use another library's model for pass-through arguments.

    Args:
        where: The tool's name and file, for errors.
        model: The model.
        hidden: Its fields that the model of language must not fill.
        forbid_unknown: Whether an argument that the model does not have is refused.

    Raises:
        SchemaInferenceError: A field cannot be said in JSON Schema.
    """
    whole = open_model(model)
    inner = adopt_args_schema(where, whole.drop_fields(hidden), _ANY, frozenset(), forbid_unknown=forbid_unknown)
    return PassThroughArgsSchema(inner, whole.check, whole.aliases, {field: whole.aliases[field] for field in hidden})


_PACKAGE = "langchain_core"


def make_runnable(it: Any) -> Any:
    """Return the tool, or a copy that leaves invalid arguments to us and runs `_run` where there is no async method.

    The copy runs the methods of the original, so that state changes are shared.
    """
    # The arguments have been checked: what fails to validate now is no fault of theirs, but of the tool's own code.
    runs = it.model_copy(update={"handle_validation_error": False}) if it.handle_validation_error else it
    written = _find_async(it)
    if written is None:
        return runs
    runs = it.model_copy() if runs is it else runs
    # Past pydantic, which knows fields only. LangChain looks the method up on the instance.
    vars(runs)["_arun"] = _run_sync(it) if only_refuses(written) else _fall_back(it, written)
    return runs


def find_lost(it: Any) -> tuple[str, ...]:
    """List what a tool calls that only works in a running graph: LangGraph's `@task` functions."""
    written = [one for one in (getattr(it, "func", None), getattr(it, "coroutine", None)) if one is not None]
    named = [(name, value) for one in written or [it] for name, value in list_named(one).items()]
    tasks = dict.fromkeys(name for name, value in named if is_instance_of(value, "langgraph", "_TaskFunction"))
    return tuple(f"{name}, a task, runs only in an entrypoint of LangGraph; call a plain function" for name in tasks)


def _find_async(it: Any) -> Any:
    """Return the author's async method, or None if LangChain would run `_run`."""
    method = type(it)._arun
    if method.__module__.partition(".")[0] != _PACKAGE:
        return it._arun
    return getattr(it, "coroutine", None)


def _run_sync(it: Any) -> Any:
    """Wrap `_run` as an async method, with what LangChain injects in its parameters."""
    run = _find_default(it)

    @functools.wraps(it._run)
    async def arun(*args: Any, **kwargs: Any) -> Any:
        return await run(it, *args, **kwargs)

    return arun


def _fall_back(it: Any, written: Any) -> Any:
    """Wrap an async method to fall back to `_run` when the author's own raises NotImplementedError."""
    run, method = _find_default(it), it._arun
    own = getattr(inspect.unwrap(written), "__code__", None)
    taken = inspect.signature(it._run).parameters
    takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())

    @functools.wraps(method)
    async def arun(*args: Any, **kwargs: Any) -> Any:
        try:
            return await method(*args, **kwargs)
        except NotImplementedError as error:
            if _find_code(error) is not own:
                raise
        known = kwargs if takes_all else {name: value for name, value in kwargs.items() if name in taken}
        return await run(it, *args, **known)

    return arun


def _find_default(it: Any) -> Any:
    """Return LangChain's own async method, which runs `_run` in a thread."""
    return next(
        vars(kind)["_arun"]
        for kind in reversed(type(it).__mro__)
        if kind.__module__.partition(".")[0] == _PACKAGE and "_arun" in vars(kind)
    )


def _find_code(error: BaseException) -> Any:
    """Return the function that has raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else trace.tb_frame.f_code
