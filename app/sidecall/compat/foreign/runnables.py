"""Take over Runnables, and give LangChain tools what LangGraph expects in a running graph, importing neither."""

import itertools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from pydantic_core import from_json

from sidecall.compat.foreign.hidden_parameters import TypedStore
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.compiler.injection_plan import is_instance_of
from sidecall.compiler.json_args_schema import make_json_args_schema, shape_arguments
from sidecall.compiler.langchain_runtime import make_configurable, make_writer
from sidecall.compiler.signature import SingleInputArgsSchema, find_source
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import CallRejected, InvalidToolOption
from sidecall.kernel.core.tool import ArgsSchema, Schema
from sidecall.kernel.core.typed_context import open_context
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.schema.references import resolve


def adopt_runnable(it: Any, name: str | None, options: Mapping[str, Any]) -> ForeignTool:
    """Offer a Runnable: its input's fields are the arguments, or one text if the input is no object.

    Raises:
        DefinitionError: It cannot be offered.
    """
    if name is None:
        raise InvalidToolOption("a runnable has no name that a model could call; give one: tool('name', runnable).")
    written = getattr(it, "func", None) or getattr(it, "afunc", None) or it
    schema: Schema = it.get_input_jsonschema() if hasattr(it, "get_input_jsonschema") else _read_json_schema(it)
    is_object = resolve(schema, schema).get("type") == "object"
    accepts: ArgsSchema = SingleInputArgsSchema(name)
    if is_object:
        accepts = _make_args_schema(f"{find_source(written)}: tool {name!r}", schema, options)
    is_asked_before = options.get("requires_approval", False) is not False
    call = set_signature(_make_call(it, is_object=is_object, is_asked_before=is_asked_before))
    return ForeignTool.wrap(written, call, accepts, **{"name": name, "description": _find_name(it), **options})


def _read_json_schema(it: Any) -> Schema:
    schema: Schema = it.input_schema.model_json_schema()
    return schema


def _make_args_schema(where: str, schema: Schema, options: Mapping[str, Any]) -> ArgsSchema:
    shown = shape_arguments(schema, frozenset())
    takes = None if shown.get("additionalProperties") else frozenset(shown["properties"])
    return make_json_args_schema(where, shown, takes, forbid_unknown=options.get("unknown_args") == "forbid")


def _find_name(it: Any) -> str:
    return str(it.get_name() if hasattr(it, "get_name") else type(it).__name__)


def _make_call(it: Any, *, is_object: bool, is_asked_before: bool) -> Callable[..., Any]:
    async def call(**arguments: Any) -> Any:
        context: ToolContext = arguments.pop(CONTEXT)
        given = arguments if is_object else arguments["tool_input"]
        answer = await GraphCall(context, is_asked_before=is_asked_before).run(it, given)
        return answer.content if is_instance_of(answer, "langchain_core", "BaseMessage") else answer

    return call


# Under these names LangGraph keeps in a config what its functions look for. It has no public name for them.
_RUNTIME = "__pregel_runtime"

_PAD = "__pregel_scratchpad"

_SEND = "__pregel_send"

_PLACE = "checkpoint_ns"
# What a tool keeps from one of its questions to the next.
_ANSWERS = "answers"


class GraphConfig(dict[str, Any]):
    """The `configurable` of a call, with entries that only LangGraph's own functions can see.

    A graph that runs inside the tool only finds its runtime, by `get`, and so stays independent.
    """

    def __init__(self, shown: Mapping[str, Any], hidden: Mapping[str, Any]) -> None:
        """Set the visible and the hidden entries."""
        super().__init__(shown)
        self._hidden = hidden

    def __missing__(self, key: str) -> Any:
        return self._hidden[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a visible entry, or the runtime, or the default."""
        return self[key] if key in self or key == _RUNTIME else default

    def copy(self) -> "GraphConfig":
        """Return a copy; LangChain copies configs when it passes them on."""
        return GraphConfig(self, self._hidden)


@dataclass(slots=True)
class _Pad:
    """A person's answers to the tool's questions, in the form that `interrupt` reads."""

    resume: list[Any]
    answers_all: bool
    interrupt_counter: Callable[[], int] = field(default_factory=lambda: itertools.count().__next__)

    def get_null_resume(self, consume: bool = False) -> Any:
        """Return True for every question if a person has approved the call as a whole; else None."""
        del consume
        return True if self.answers_all else None


class GraphCall:
    """One call of a tool that expects to run in a graph."""

    def __init__(self, context: ToolContext, *, is_asked_before: bool) -> None:
        """Prepare the answers of a call.

        Args:
            context: Ours of the call.
            is_asked_before: Whether a person may have approved the call itself, which answers none of its questions.

        Raises:
            CallRejected: A person has rejected what it has asked.
        """
        if context.rejection is not None:
            raise CallRejected(context.rejection)
        self._answers: list[Any] = []
        if context.resumed is not None:
            self._answers = [*context.resumed[_ANSWERS], read_answer(context.reply)]
        is_approved = context.approved and context.resumed is None and not is_asked_before
        hidden = {_PAD: _Pad(self._answers, is_approved), _SEND: _forget, _PLACE: "", _RUNTIME: _make_runtime(context)}
        self.config = {"configurable": GraphConfig(_show(context), hidden)}

    async def run(self, runnable: Any, asked: Any) -> Any:
        """Run the tool, or another runnable.

        Raises:
            ApprovalRequired: It has called `interrupt`.
        """
        try:
            return await runnable.ainvoke(asked, self.config)
        except Exception as error:
            if not is_instance_of(error, "langgraph", "GraphInterrupt") or not error.args or not error.args[0]:
                raise
            raise self._make_question(error.args[0][0]) from None

    def _make_question(self, interrupt: Any) -> ApprovalRequired:
        text = interrupt.value if isinstance(interrupt.value, str) else None
        wanted = getattr(interrupt, "response_schema", None)
        if wanted is not None:
            words = "A person has to answer." if text is None else text
            text = f"{words}\nThe answer is JSON of this schema: {to_text(wanted)}"
        return ApprovalRequired(text, payload=interrupt.value, state={_ANSWERS: self._answers})


def read_answer(reply: str | None) -> Any:
    """Read the value for `interrupt`: a person's text, or its JSON value; True without any."""
    if reply is None:
        return True
    try:
        return from_json(reply, allow_inf_nan=False)
    except ValueError:
        return reply


def _forget(_: Any) -> None:
    """Ignore what `interrupt` writes into a checkpoint; here the approval stores it."""


def _show(context: ToolContext[Any]) -> dict[str, Any]:
    return make_configurable(context.headers, context.context if isinstance(context.context, Mapping) else {})


def _make_runtime(context: ToolContext) -> Any:
    """Make the result of `get_runtime`: LangGraph's object, if it is loaded."""
    loaded = sys.modules.get("langgraph.runtime")
    info = getattr(loaded, "ExecutionInfo", SimpleNamespace)(
        checkpoint_id="",
        checkpoint_ns="",
        task_id=context.invocation_id,
        thread_id=_show(context).get("thread_id"),
        run_id=context.invocation_id,
    )
    runtime = getattr(loaded, "Runtime", None) or _OwnRuntime
    return runtime(
        context=open_context(context) if context.context else None,
        store=_type_store(context.store),
        stream_writer=make_writer(context),
        execution_info=info,
    )


def _type_store(store: Any) -> Any:
    kind = getattr(sys.modules.get("langgraph.store.base"), "BaseStore", None)
    return store if store is None or kind is None or isinstance(store, kind) else TypedStore(store, kind)


@dataclass(slots=True, kw_only=True)
class _OwnRuntime:
    """The parts of a runtime that LangGraph's functions use, while its own class is not loaded."""

    context: Any
    store: Any
    stream_writer: Callable[[Any], None]
    execution_info: Any
    heartbeat: Callable[[], None] = lambda: None
    previous: None = None
    server_info: None = None
    control: None = None
