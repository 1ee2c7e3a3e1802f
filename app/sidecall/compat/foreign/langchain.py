"""Adopt tools of LangChain, without importing it."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sidecall.compat.foreign.arguments import make_pass_through
from sidecall.compat.foreign.callbacks import RefusalReporter
from sidecall.compat.foreign.graph import GraphCall
from sidecall.compat.foreign.hidden import plan_hidden
from sidecall.compat.foreign.running import find_lost, make_runnable
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.kernel.authoring.methods import only_refuses
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.parameter import Parameter
from sidecall.kernel.core.tool import ArgsSchema
from sidecall.kernel.schema.by_json_schema import make_json_args_schema, read_json_schema
from sidecall.kernel.schema.foreign import is_instance_of
from sidecall.kernel.schema.infer import infer_args_schema
from sidecall.kernel.schema.injections import find_marker
from sidecall.kernel.schema.models import open_model
from sidecall.kernel.schema.references import inline_root
from sidecall.kernel.schema.signature import find_source, read_signature
from sidecall.kernel.schema.single_input import SingleInputArgsSchema

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
