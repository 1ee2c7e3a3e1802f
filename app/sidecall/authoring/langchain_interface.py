"""Introspection of tools under LangChain's names, as models and JSON Schema, and by the nodes of LangGraph."""

from collections.abc import Iterator, Mapping
from inspect import currentframe
from typing import Annotated, Any

import pydantic
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from sidecall.authoring.options import OptionFields
from sidecall.compiler.argument_models import ModelType
from sidecall.compiler.injection_plan import is_instance_of, rebuild_annotation
from sidecall.compiler.signature import SingleInputArgsSchema, read_signature
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.core.tool import EMPTY, CompiledTool, Schema
from sidecall.kernel.schema.model_args_schema import ModelArgsSchema

# Where the values of hidden parameters come from that LangChain shows in `args_schema` too.
_SHOWN = ("context", "state", "call_id", "caller")
_FORM = ConfigDict(arbitrary_types_allowed=True)

Fields = dict[str, tuple[Any, FieldInfo]]


def make_args_model(tool: CompiledTool, *, with_hidden: bool) -> Any:
    """Make a model with a field for each parameter, like LangChain's `args_schema`.

    Args:
        tool: The tool.
        with_hidden: Whether what the caller supplies has fields too.

    Returns:
        A model; the JSON Schema where that is what describes the arguments.
    """
    schema = tool.args_schema
    if isinstance(schema, SingleInputArgsSchema):
        fields: Fields = {"tool_input": (str, Field())}
    elif isinstance(schema, ModelArgsSchema):
        fields = dict(_list_fields(schema))
    else:
        inner = getattr(schema, "inner", None)
        if not isinstance(inner, ModelArgsSchema):
            return {**schema.flat, "description": tool.description}
        fields = dict(_list_fields(inner))
    if with_hidden:
        fields |= dict(_list_hidden(tool))
    made: dict[str, Any] = dict(fields)
    return create_model(tool.name, __doc__=tool.description or None, __config__=_FORM, **made)


def _list_fields(schema: ModelArgsSchema) -> Iterator[tuple[str, tuple[Any, FieldInfo]]]:
    for number, (field, parameter) in enumerate(schema.fields.items()):
        if field in schema.hidden:
            continue
        info = schema.model.model_fields[field]
        said: dict[str, Any] = {"description": info.description, "examples": info.examples}
        if info.default_factory is not None:
            said["default_factory"] = info.default_factory
        elif not info.is_required():
            said["default"] = info.default
        name = parameter
        if parameter.startswith("_") or hasattr(BaseModel, parameter):
            name, said["alias"] = f"field_{number}", parameter
        yield name, (rebuild_annotation(info), Field(**said, json_schema_extra=info.json_schema_extra))


def _list_hidden(tool: CompiledTool) -> Iterator[tuple[str, tuple[Any, FieldInfo]]]:
    known = {parameter.name: parameter for parameter in tool.parameters}
    for injection in tool.injections:
        parameter = known.get(injection.parameter)
        if parameter is not None and injection.source in _SHOWN and not parameter.name.startswith("_"):
            field = Field() if parameter.default is EMPTY else Field(default=parameter.default)
            yield parameter.name, (_choose_sayable(parameter.annotation), field)


def _choose_sayable(annotation: Any) -> Any:
    try:
        TypeAdapter(annotation).json_schema()
    except PydanticUserError:
        return Annotated[Any, *getattr(annotation, "__metadata__", (None,))]
    return annotation


def make_output_model(tool: CompiledTool) -> "type[pydantic.RootModel[Any]]":
    """Make a model of the function's result; of any value if it has no annotation."""
    try:
        returns = read_signature(tool.function).returns
        root = pydantic.RootModel[Any] if returns is EMPTY else pydantic.RootModel[returns]  # type: ignore[valid-type]
        root.model_json_schema(mode="serialization")
    except (NameError, ValueError, PydanticUserError):
        root = pydantic.RootModel[Any]
    make: Any = create_model
    model: type[pydantic.RootModel[Any]] = make(f"{tool.name}_output", __base__=root)
    return model


class ToolFace(OptionFields):
    """Introspection of a tool, under LangChain's names.

    Schemas are made at each call: they are for people, and for programs that set up an agent.
    """

    name: str
    description: str = ""
    args_schema: ModelType | dict[str, Any] | None = None

    @property
    def compiled(self) -> CompiledTool:
        """The compiled tool."""
        raise NotImplementedError

    @property
    def args(self) -> Schema:
        """The arguments that a model may send, by name, as JSON Schema."""
        if isinstance(self.compiled.args_schema, SingleInputArgsSchema):
            return {"tool_input": {"type": "string"}}
        shown = self.tool_call_schema
        schema = shown if isinstance(shown, dict) else shown.model_json_schema()
        properties: Schema = schema.get("properties", {})
        return properties

    @property
    def is_single_input(self) -> bool:
        """Whether there is exactly one argument."""
        return len(self.args.keys() - {"kwargs"}) == 1

    @property
    def tool_call_schema(self) -> Any:
        """The model, or the JSON Schema, of the arguments that a model may send."""
        return make_args_model(self.compiled, with_hidden=False)

    @property
    def input_schema(self) -> type[BaseModel]:
        """The result of `get_input_schema`."""
        return self.get_input_schema()

    @property
    def output_schema(self) -> "type[pydantic.RootModel[Any]]":
        """The result of `get_output_schema`."""
        return self.get_output_schema()

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """Return the given or the tool's name, with `suffix`, as LangChain's runnables do."""
        whole = name or self.name
        if not suffix:
            return whole
        return f"{whole}_{suffix}" if whole[:1].islower() else f"{whole}{suffix.title()}"

    def get_input_schema(self, config: Any = None) -> type[BaseModel]:
        """Make a model of all arguments, including those that the caller supplies."""
        del config
        given: Any = self.args_schema
        if given is None:
            given = make_args_model(self.compiled, with_hidden=True)
        if isinstance(given, dict):
            return create_model(f"{self.compiled.name}_input", __base__=pydantic.RootModel[dict[str, Any]])
        model: type[BaseModel] = given
        return model

    def get_output_schema(self, config: Any = None) -> "type[pydantic.RootModel[Any]]":
        """Make a model of the tool's result."""
        del config
        return make_output_model(self.compiled)

    def get_input_jsonschema(self, config: Any = None) -> Schema:
        """Make the JSON Schema of all arguments."""
        if isinstance(self.args_schema, dict):
            return dict(self.args_schema)
        return self.get_input_schema(config).model_json_schema()

    def get_output_jsonschema(self, config: Any = None) -> Schema:
        """Make the JSON Schema of the tool's result."""
        return self.get_output_schema(config).model_json_schema(mode="serialization")


def infer_args_schema_of(tool: ToolFace) -> Any:
    """Make the `args_schema` of a tool without one; None if that is impossible."""
    try:
        compiled = tool.compiled
    except DefinitionError:
        return None
    return (
        None if isinstance(compiled.args_schema, SingleInputArgsSchema) else make_args_model(compiled, with_hidden=True)
    )


# Under which name a node fills in all that the graph knows: state, context, store.
RUNTIME = "runtime_of_the_graph"
# The module of LangGraph that asks a tool what it has to fill in.
_NODE = "langgraph.prebuilt.tool_node"


def is_asked_by_node() -> bool:
    """Return whether the calling function was called by a LangGraph node.

    Only nodes must see what a graph injects: the markers on a tool's parameters are ours, and mean nothing to them. All
    other code sees those.
    """
    frame = currentframe()
    asked = frame.f_back if frame is not None else None
    asker = asked.f_back if asked is not None else None
    return asker is not None and asker.f_globals.get("__name__") == _NODE


def comes_from_graph(call: Any) -> bool:
    """Return whether a node has injected the graph's values; a model cannot write these."""
    args = call.get("args") if isinstance(call, Mapping) else None
    return isinstance(args, Mapping) and is_instance_of(args.get(RUNTIME), "langgraph", "ToolRuntime")
