"""Read the input of an in-process call, and what comes beside it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, TypedDict

from pydantic import BaseModel, BeforeValidator, ValidationError
from uuid_utils import uuid4

from sidecall.kernel.core.errors import NotAToolCall
from sidecall.kernel.core.injection import leave_out
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.text import read_object
from sidecall.kernel.pipeline.refuse_caller import let_program_call
from sidecall.kernel.ports.store import Store, SyncStore
from sidecall.kernel.suggest.misplaced import find_loose, find_misplaced, is_filled

# What the dict of one has, in this library and in others.
_MEMBERS = frozenset("name args id type index extras state context".split())
# A ToolCall, its dict, arguments alone, or the text of a tool's first argument.
ToolInput = ToolCall | Mapping[str, Any] | str


class Beside(TypedDict, total=False):
    """What the caller supplies with an in-process call, in place of a server.

    `state` fills InjectedState, `context` fills InjectedToolArg by name, `store` fills InjectedStore. A `context` that
    is an object becomes the context of a ToolContext. `approved` runs a call that requires approval.
    """

    state: Any
    context: Any
    store: Store | SyncStore | None
    approved: bool


class _SentCall(BaseModel, defer_build=True):
    """A ToolCall as a program writes it, for a known tool."""

    args: Annotated[dict[str, Any] | str | None, BeforeValidator(read_object)]
    id: str | int | None = None


def make_tool_call(tool: CompiledTool, input: ToolInput, is_call: bool) -> ToolCall:
    """Parse the input of an in-process call, as the server parses a request.

    Raises:
        NotAToolCall: It is no call.
    """
    if isinstance(input, ToolCall):
        return input
    if isinstance(input, str):
        return let_program_call(tool, ToolCall(name=tool.name, args=_name_text(tool, input), id=new_call_id()))
    given = read_object(input)
    if not isinstance(given, Mapping):
        raise NotAToolCall(f"A tool is called with a ToolCall, its arguments or a text, not {type(given).__name__}.")
    if not is_call:
        return let_program_call(tool, ToolCall(name=tool.name, args=dict(given), id=new_call_id()))
    if not is_filled(given.get("args")) and (misplaced := _find_misplaced(tool, given)) is not None:
        raise NotAToolCall(f"The arguments of a call stand in `args`, not in `{misplaced}`.")
    try:
        sent = _SentCall.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        text = f"The call has the form of langchain, but `{format_path(first['loc'][:1])}`: {first['msg']}."
        raise NotAToolCall(text) from None
    args = {} if sent.args is None else sent.args
    return ToolCall(name=tool.name, args=args, id=new_call_id() if sent.id is None else str(sent.id))


def _find_misplaced(tool: CompiledTool, given: Mapping[str, Any]) -> str | None:
    parameters = tool.args_schema.flat.get("properties", ())
    return find_misplaced(given, "args") or find_loose(given, parameters, _MEMBERS)


def _name_text(tool: CompiledTool, text: str) -> dict[str, Any]:
    """Use a text as the first argument, as LangChain does; a tool without arguments ignores it."""
    first = next(iter(tool.args_schema.flat["properties"]), None)
    return {} if first is None else {first: text}


def new_call_id() -> str:
    """Make an id for a call that came without one."""
    return f"call_{uuid4().hex}"


_SCALARS = (str, int, float, bool, type(None))


def take_given(tool: CompiledTool, call: ToolCall, *, may_be_models: bool) -> tuple[ToolCall, dict[str, Any]]:
    """Split a call into the call without hidden parameters, and their values by parameter name.

    Arguments that may come from a model (those of a ToolCall, or sent with a state) may only set hidden parameters to
    values that JSON cannot express; other values for them are dropped, as over HTTP.
    """
    args = call.args
    if not tool.injections or not isinstance(args, Mapping):
        return call, {}
    names = [it.parameter for it in tool.injections if it.parameter in args and it.make is not leave_out]
    given = {name: args[name] for name in names if not may_be_models or not _is_json(args[name])}
    if not given:
        return call, {}
    return call.model_copy(update={"args": {name: it for name, it in args.items() if name not in given}}), given


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(it) for key, it in value.items())
    return all(map(_is_json, value)) if isinstance(value, list) else isinstance(value, _SCALARS)


def supply(tool: CompiledTool, given: Mapping[str, Any]) -> CompiledTool:
    """Return the tool with its hidden parameters set to these values."""
    if not given:
        return tool
    injections = (it.hold(given[it.parameter]) if it.parameter in given else it for it in tool.injections)
    return replace(tool, injections=tuple(injections))
