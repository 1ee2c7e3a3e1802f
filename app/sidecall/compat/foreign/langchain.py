"""Adopt tools of LangChain, without importing it."""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from sidecall.authoring.overrides import only_refuses
from sidecall.compat.foreign.hidden_parameters import plan_hidden
from sidecall.compat.foreign.runnables import GraphCall
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.compiler.argument_models import adopt_args_schema, open_model
from sidecall.compiler.injection_plan import find_marker, is_instance_of
from sidecall.compiler.json_args_schema import make_json_args_schema, read_json_schema
from sidecall.compiler.signature import SingleInputArgsSchema, find_source, read_signature
from sidecall.compiler.signature_model import infer_args_schema
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import InvalidArguments, ToolException
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.tool import EMPTY, ArgsSchema, Parameter, Schema
from sidecall.kernel.ports.approvals.questions import list_named
from sidecall.kernel.schema.explain import list_details, make_field_errors
from sidecall.kernel.schema.references import inline_root

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


# Calls that are on their way at once, and more.
_MOST = 10_000


class RefusalReporter:
    """Notifies a LangChain tool's own callbacks of arguments refused before it ran, as LangChain does.

    It is a callback handler of ours. LangChain itself notifies them of calls that reach it.
    """

    def __init__(self, it: Any) -> None:
        """Notify for this tool."""
        self._it = it
        self._sent: dict[UUID, Any] = {}

    def hand_over(self, invocation_id: str) -> None:
        """Leave a call to LangChain."""
        self._sent.pop(UUID(invocation_id), None)

    async def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, inputs: Any) -> None:
        """Keep the original arguments until the call reaches LangChain, or ends."""
        del serialized, input_str
        self._sent[run_id] = inputs
        if len(self._sent) > _MOST:
            del self._sent[next(iter(self._sent))]

    async def on_tool_end(self, output: Any, *, run_id: UUID) -> None:
        """Drop the call."""
        del output
        self._sent.pop(run_id, None)

    async def on_tool_error(self, error: BaseException, *, run_id: UUID, tool_call_id: str) -> None:
        """Report start and error, if the error is about arguments."""
        is_kept = run_id in self._sent
        sent = self._sent.pop(run_id, None)
        if not is_kept or not isinstance(error, InvalidArguments | ValidationError):
            return
        it = self._it
        # As the tool's own `arun` makes it.
        manager = sys.modules["langchain_core.callbacks"].AsyncCallbackManager.configure(
            None, it.callbacks, it.verbose, None, it.tags, None, it.metadata
        )
        about = {"name": it.name, "description": it.description}
        run = await manager.on_tool_start(about, str(sent), run_id=run_id, inputs=sent, tool_call_id=tool_call_id)
        await run.on_tool_error(getattr(error, "original", None) or error, tool_call_id=tool_call_id)


_PACKAGE = "langchain_core"
# What LangChain fills in by name.
_FILLED = frozenset(("run_manager", "callbacks"))

_TAKEN_OVER = (
    "description",
    "return_direct",
    "response_format",
    "tags",
    "metadata",
    "extras",
    "handle_validation_error",
)


def adopt_langchain(it: Any, name: str | None, options: Mapping[str, Any]) -> ForeignTool:
    """Adopt a LangChain tool; `options` override its own.

    Raises:
        DefinitionError: The tool cannot be offered.
    """
    said = {field: value for field in _TAKEN_OVER if (value := getattr(it, field, None)) is not None}
    said = {**said, "name": name or it.name, **options}
    written = getattr(it, "func", None) or getattr(it, "coroutine", None) or it
    where = f"{find_source(written)}: tool {said['name']!r}"
    model = None if _has_schema(it) else it.args_schema or it.get_input_schema()
    hidden = plan_hidden(it, model)
    accepts = _make_args_schema(it, where, model, hidden, forbid_unknown=said.get("unknown_args") == "forbid")
    teller = RefusalReporter(it) if it.callbacks or it.verbose else None
    if teller is not None:
        said["callbacks"] = [*(said.get("callbacks") or ()), teller]
    call = _make_call(it, said, teller)
    made = ForeignTool.wrap(written, set_signature(call, hidden.values()), accepts, **said)
    made._unmet = find_lost(it)
    return made


def _has_schema(it: Any) -> bool:
    """Return whether the tool's arguments are described by something other than a model."""
    return isinstance(it.args_schema, dict) or _is_single_input(it)


def _is_single_input(it: Any) -> bool:
    return it.args_schema is None and is_instance_of(it, _PACKAGE, "Tool")


def _make_args_schema(
    it: Any, where: str, model: Any, hidden: Mapping[str, Parameter], *, forbid_unknown: bool
) -> ArgsSchema:
    if _is_single_input(it):
        return SingleInputArgsSchema(it.name)
    if model is None:
        return _read_json_schema(where, it.args_schema, hidden, forbid_unknown=forbid_unknown)
    if it.args_schema is None:
        return _infer(it, where, hidden, forbid_unknown=forbid_unknown)
    hidden_fields = frozenset(hidden) & open_model(model).aliases.keys()
    return make_pass_through(where, model, hidden_fields, forbid_unknown=forbid_unknown)


def _infer(it: Any, where: str, hidden: Mapping[str, Parameter], *, forbid_unknown: bool) -> ArgsSchema:
    """Infer the arguments of a class from its method, to which LangChain passes them unvalidated.

    LangChain's own model has fields for `*args` and `**kwargs`, whose defaults would be passed on.
    """
    signature = read_signature(it._arun if only_refuses(it._run) else it._run)
    shown = (one for one in signature.parameters if not (one.name in hidden or _is_filled(one)))
    return infer_args_schema(where, shown, {}, frozenset(hidden), forbid_unknown=forbid_unknown)


def _is_filled(parameter: Parameter) -> bool:
    """Return whether LangChain fills a parameter itself, or nothing does."""
    is_positional = parameter.kind is inspect.Parameter.VAR_POSITIONAL
    return is_positional or parameter.name in _FILLED or find_marker(parameter.annotation) is not None


def _read_json_schema(
    where: str, schema: dict[str, Any], hidden: Mapping[str, Parameter], *, forbid_unknown: bool
) -> ArgsSchema:
    schema = inline_root(read_json_schema(where, schema))
    properties = {name: value for name, value in schema.get("properties", {}).items() if name not in hidden}
    required = [name for name in schema.get("required", []) if name in properties]
    shown = {**schema, "properties": properties, "required": required}
    takes = None if schema.get("additionalProperties") else frozenset(properties)
    return make_json_args_schema(where, shown, takes, forbid_unknown=forbid_unknown)


def _make_call(it: Any, said: Mapping[str, Any], teller: RefusalReporter | None) -> Callable[..., Any]:
    runs = make_runnable(it)
    is_paired = said.get("response_format") == "content_and_artifact"
    is_asked_before = said.get("requires_approval", False) is not False

    async def call(**arguments: Any) -> Any:
        context: ToolContext = arguments.pop(CONTEXT)
        if teller is not None:
            teller.hand_over(context.invocation_id)
        asked = {"type": "tool_call", "id": context.tool_call_id, "name": it.name, "args": arguments}
        try:
            answer = await GraphCall(context, is_asked_before=is_asked_before).run(runs, asked)
        except Exception as error:
            if is_instance_of(error, _PACKAGE, "ToolException"):
                raise ToolException(*error.args) from error
            raise
        return _translate_answer(answer, is_paired=is_paired)

    return call


def _translate_answer(answer: Any, *, is_paired: bool) -> Any:
    """Convert a ToolMessage to a function's result: plain content, unless it carries more."""
    if not is_instance_of(answer, _PACKAGE, "ToolMessage"):
        return (answer, None) if is_paired else answer
    said = {name: getattr(answer, name) for name in ("content", "artifact", "status", "additional_kwargs")}
    message = ToolMessage(**said)
    is_plain = message.status == "success" and not message.additional_kwargs
    content = message.content if is_plain and (is_paired or message.artifact is None) else message
    return (content, message.artifact) if is_paired else content
