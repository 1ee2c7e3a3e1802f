"""A server's tools as tools of smolagents: `ToolCallingAgent(tools=load_tools(server), model=...)`."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any, Unpack

from smolagents import AgentImage, AgentText, Tool

from sidecall.client import remote
from sidecall.client.adapters import inline_properties, name_arguments, read_text
from sidecall.client.answers import ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool
from sidecall.client.runs import RunOptions, check_run_options, read_run

_ANY = ("string", "integer", "number", "boolean", "array", "object", "null")
_TYPES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}

OnAnswer = Callable[[ToolAnswer], Any]


def load_tools(
    server: str | Sidecall | AsyncSidecall,
    *,
    filters: ToolFilters | None = None,
    on_answer: OnAnswer | None = None,
    **options: Unpack[RunOptions],
) -> list[Tool]:
    """Return the server's tools, for ToolCallingAgent and CodeAgent.

    `on_answer` gets each answer, with its artifact: what tools return is in reach of the code that a model writes.
    smolagents tells a tool neither the id of the model's call nor for whom it runs: give `state`, `context` and
    `conversation` here, as values or as functions of the tool. A call that fails raises; one that waits for a person is
    a text for the model, unless `ask` or `approvals` say otherwise.
    """
    wanted = check_run_options(options)
    return [ServerTool(it, wanted, on_answer) for it in remote.load_tools(server, filters=filters)]


class ServerTool(Tool):
    """A tool that runs in a server."""

    name = "server_tool"
    description = "Runs in a server."
    inputs: dict[str, dict[str, Any]] = {}  # noqa: RUF012  # each tool has its own
    output_type = "string"
    # Whose parameters are those of the server's tool.
    skip_forward_signature_validation = True

    def __init__(self, tool: RemoteTool, options: RunOptions, on_answer: OnAnswer | None) -> None:
        self.name = write_name(tool.name)
        self.description = tool.description
        self.inputs = write_inputs(tool.parameters)
        self._remote = tool
        self._options = options
        self._on_answer = on_answer
        super().__init__()

    def __call__(self, /, *values: Any, sanitize_inputs_outputs: bool = False, **written: Any) -> Any:  # noqa: ARG002
        """Run the tool; nulls and dicts are arguments like others, and types of smolagents are made plain."""
        only = values[0] if len(values) == 1 and not written else None
        if isinstance(only, dict) and only.keys() <= self.inputs.keys():
            values, written = (), only
        return self.forward(*values, **written)

    def forward(self, /, *values: Any, **written: Any) -> Any:
        """Run the tool.

        Raises:
            ToolFailed: The call failed; the model reads why.
        """
        args = name_arguments(self._remote.parameters, values, written)
        plain = {name: _make_plain(value) for name, value in args.items()}
        answer = self._remote.call(plain, **read_run(self._options, self))
        if self._on_answer is not None:
            self._on_answer(answer)
        text = read_text(answer)
        match read_blocks(answer.content):
            case [MediaBlock(kind="image", data=str(data))]:
                with suppress(OSError):  # It is of a kind that Pillow does not read.
                    return AgentImage(base64.b64decode(data))
        return AgentText(str(text))


def write_name(name: str) -> str:
    """Return a tool's name as one of Python, since agents call tools in code."""
    return re.sub(r"\W|^(?=\d)", "_", name)


def write_inputs(parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters as smolagents describes them: each with a type, and nullable if it may be left out."""
    required = parameters.get("required", ())
    return {name: _write_input(it, name in required) for name, it in inline_properties(parameters).items()}


def _write_input(schema: Mapping[str, Any], is_required: bool) -> dict[str, Any]:
    written = dict(deepcopy(schema))
    types = list(dict.fromkeys(_list_types(schema)))
    choices = written.pop("anyOf", None)
    if choices is not None:
        _write_choices(written, choices)
    if "null" in types or not is_required:
        written["nullable"] = True
    types = [it for it in types if it != "null"] or ["null"]
    # A float without a fraction is sent as an integer.
    types += ["integer"] if "number" in types and len(types) > 1 and "integer" not in types else []
    return {**written, "type": types[0] if len(types) == 1 else types, "description": schema.get("description", "")}


def _write_choices(written: dict[str, Any], choices: list[Mapping[str, Any]]) -> None:
    """Keep choices where smolagents leaves them as they are: of an `anyOf` it keeps the types alone."""
    left = [it for it in choices if it.get("type") != "null"]
    if len(left) == 1:
        written.update({key: value for key, value in left[0].items() if key not in written})
    elif any(it.keys() - {"type", "title"} for it in left):
        written["allOf"] = [*written.get("allOf", ()), {"anyOf": choices}]


def _list_types(schema: Any) -> Iterator[str]:
    """Yield the types of values that a schema takes."""
    if not isinstance(schema, Mapping):
        yield from _ANY
    elif "type" in schema:
        yield from [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    elif "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        yield from (_TYPES.get(type(it), "array" if isinstance(it, list) else "object") for it in values)
    elif choices := schema.get("anyOf") or schema.get("oneOf"):
        for choice in choices:
            yield from _list_types(choice)
    elif "properties" in schema:
        yield "object"
    else:
        yield from _ANY


def _make_plain(value: Any) -> Any:
    """Return the value of one of smolagents' types."""
    return str(value) if isinstance(value, AgentText) else value
