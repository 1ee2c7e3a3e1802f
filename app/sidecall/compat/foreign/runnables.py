"""Offer LangChain's Runnables, without importing it."""

from collections.abc import Callable, Mapping
from typing import Any

from sidecall.compat.foreign.graph import GraphCall
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.tool import ArgsSchema, Schema
from sidecall.kernel.schema.by_json_schema import make_json_args_schema
from sidecall.kernel.schema.foreign import is_instance_of
from sidecall.kernel.schema.references import resolve
from sidecall.kernel.schema.shape import shape_arguments
from sidecall.kernel.schema.signature import find_source
from sidecall.kernel.schema.single_input import SingleInputArgsSchema


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
