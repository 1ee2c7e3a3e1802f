"""What the caller supplies reaches the function, no matter what a model sends under the same name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from sidecall import Store, ToolContext
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from tests.properties.conftest import Post
from tests.properties.json_values import any_json
from tests.properties.kinds import ANYTHING
from tests.properties.runs import examples
from tests.properties.signatures import NAMES, Made, Parameter, Program, arguments, in_order, parameters, running

_FORMS = (
    "Annotated[{}, MARKER]",
    "Annotated[{}, 'said', MARKER, Field(description='said')]",
    "Annotated[{}, Field(title='said'), MARKER]",
    "Optional[Annotated[{}, MARKER]]",
    "Annotated[{}, MARKER] | None",
    "Annotated[Optional[{}], MARKER]",
    "Annotated[Optional[Annotated[{}, MARKER]], 'said']",
    "Optional[Annotated[Annotated[{}, MARKER], 'said']]",
    "Annotated[Union[None, Annotated[{}, MARKER, 'said']], 'said']",
)
_CONTEXT_FORMS = (
    "ToolContext",
    "ToolContext[dict]",
    "Optional[ToolContext]",
    "ToolContext | None",
    "ToolContext[dict] | None",
    "Annotated[ToolContext, 'said']",
    "Annotated[Optional[Annotated[ToolContext, 'said']], 'said']",
)
# What the caller sends for a parameter of each type.
_VALUES: dict[str, Any] = {
    "str": "the caller's",
    "int": 42,
    "list[int]": [4, 2],
    "dict[str, Any]": {"owner": "the caller"},
    "Any": [None],
}


@dataclass(frozen=True)
class Sent:
    """Hold what stands beside the call."""

    context: dict[str, Any]
    state: dict[str, Any]
    store: Store | None = None


@dataclass(frozen=True, kw_only=True)
class Hidden(Parameter):
    """Describe an injected parameter: its type, and where its value comes from."""

    type: str
    got: Callable[[str, Any, Sent], bool]


@dataclass(frozen=True)
class Marker:
    """Describe a marker: how it is written, the types it goes with, and how to tell the caller's value."""

    texts: tuple[str, ...]
    types: tuple[str, ...]
    got: Callable[[str, Any, Sent], bool]
    forms: tuple[str, ...] = _FORMS


_MARKERS = (
    Marker(
        ("InjectedToolArg", "InjectedToolArg()"),
        tuple(_VALUES),
        lambda name, value, sent: value == sent.context[name],
    ),
    Marker(("InjectedToolCallId", "InjectedToolCallId()"), ("str",), lambda _name, value, _sent: value == "call_1"),
    Marker(("InjectedState", "InjectedState()"), ("dict[str, Any]", "Any"), lambda _, value, sent: value == sent.state),
    Marker(("InjectedState(NAME)",), tuple(_VALUES), lambda name, value, sent: value == sent.state[name]),
    Marker(("InjectedStore", "InjectedStore()"), ("Any", "Store"), lambda _, value, sent: value is sent.store),
    Marker(
        ("",),
        ("ToolContext",),
        lambda _, value, sent: (value.tool_call_id, value.state) == ("call_1", sent.state),
        _CONTEXT_FORMS,
    ),
)


@st.composite
def _hidden(draw: st.DrawFn) -> Hidden:
    name, marker = draw(st.sampled_from(NAMES)), draw(st.sampled_from(_MARKERS))
    kind, text = draw(st.sampled_from(marker.types)), draw(st.sampled_from(marker.texts))
    form = draw(st.sampled_from(marker.forms))
    return Hidden(
        name=name,
        key=name,
        place=draw(st.sampled_from(["/", "", "*"])),
        kind=ANYTHING,
        annotation=form.replace("MARKER", text.replace("NAME", repr(name))).replace("{}", kind),
        default=draw(st.sampled_from([None, None, "None"])),
        type=kind,
        got=marker.got,
    )


def _programs() -> st.SearchStrategy[Program]:
    drawn = st.builds(
        lambda hidden, visible: in_order([*hidden, *visible]),
        st.lists(_hidden(), min_size=1, max_size=3),
        st.lists(parameters(), max_size=3),
    ).filter(lambda chosen: len({it.name for it in chosen}) == len(chosen))
    return st.builds(Program, drawn, st.booleans(), st.booleans())


def _split(program: Program) -> tuple[list[Hidden], Program]:
    hidden = [it for it in program.parameters if isinstance(it, Hidden)]
    return hidden, replace(program, parameters=tuple(it for it in program.parameters if it not in hidden))


@given(program=_programs(), policy=st.sampled_from(["ignore", "forbid"]), data=st.data())
@examples(80)
def test_no_forged_value_reaches_the_function(program: Program, policy: str, data: st.DataObject) -> None:
    """Every injected parameter gets the caller's value, is named in `ignored_args`, and is not advertised."""
    note(program.source)
    hidden, visible = _split(program)
    names = [it.name for it in hidden]
    values = {it.name: _VALUES.get(it.type) for it in hidden}
    beside = Sent(values, values, ItemStore(MemoryItems()))
    with running(program, unknown_args=policy) as made:
        forged = data.draw(st.fixed_dictionaries(dict.fromkeys(names, any_json)))
        message = made.call({**data.draw(arguments(visible)), **forged}, **vars(beside))

        assert (message.status, message.content) == ("success", "done"), message.content
        assert message.response_metadata["ignored_args"] == sorted(names)
        assert [it.name for it in hidden if not it.got(it.name, made.calls[0][it.name], beside)] == []
        assert set(names).isdisjoint(made.schema["properties"])
        assert set(names).isdisjoint(made.schema.get("required", []))


@given(program=_programs(), data=st.data())
@examples(40)
def test_no_forged_value_comes_in_over_http(post: Post, program: Program, data: st.DataObject) -> None:
    """State and context beside the call reach the function, what the model wrote into the arguments does not."""
    sendable = tuple(it for it in program.parameters if "InjectedStore" not in it.annotation)
    note(replace(program, parameters=sendable).source)
    hidden, visible = _split(replace(program, parameters=sendable))
    names = [it.name for it in hidden]
    values = {it.name: _VALUES.get(it.type) for it in hidden}
    with running(replace(program, parameters=sendable)) as made:
        args = data.draw(arguments(visible)) | data.draw(st.fixed_dictionaries(dict.fromkeys(names, any_json)))
        call = {"type": "tool_call", "name": "generated", "args": args, "id": "call_1"}
        answer = post(made.tool, {**call, "state": values, "context": values}).json()

        assert answer["content"] == "done"
        assert answer["response_metadata"]["ignored_args"] == sorted(names)
        assert [it.name for it in hidden if not it.got(it.name, made.calls[0][it.name], Sent(values, values))] == []


@given(program=_programs(), data=st.data())
@examples(40)
def test_no_forged_value_stands_in_for_what_the_caller_left_out(program: Program, data: st.DataObject) -> None:
    """A parameter that the caller sent nothing for has its default."""
    note(program.source)
    optional = replace(program, parameters=tuple(_with_default(it) for it in program.parameters))
    hidden, visible = _split(optional)
    with running(optional) as made:
        forged = data.draw(st.fixed_dictionaries({it.name: any_json for it in hidden}))
        message = made.call({**data.draw(arguments(visible)), **forged})
        got = [made.calls[0][it.name] for it in hidden]

        assert (message.status, message.content) == ("success", "done"), message.content
        assert [value for value in got if value not in (None, "call_1") and not isinstance(value, ToolContext)] == []


def _with_default(parameter: Parameter) -> Parameter:
    is_free = parameter.place in ("*args", "**kwargs")
    return parameter if is_free or parameter.default else replace(parameter, default="None")


# How a field of the author's model is declared, and the names from which the model would read it.
_FIELDS = (
    ("Field()", ("owner",)),
    ("Field(alias='a')", ("owner", "a")),
    ("Field(validation_alias='a')", ("owner", "a")),
    ("Field(validation_alias=AliasChoices('a', 'b'))", ("owner", "a", "b")),
    ("Field(validation_alias=AliasChoices('a', AliasPath('b', 0)), serialization_alias='c')", ("owner", "a", "b")),
)
_CONFIGS = ("", "validate_by_name=True, validate_by_alias=True", "extra='allow'", "extra='forbid'", "strict=True")
_MODULE = """from typing import Annotated, Any, Optional, Union
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field
from sidecall import InjectedToolArg, tool
class Arguments(BaseModel):
    model_config = ConfigDict({config})
    query: str
    owner: {annotation} = {field}
@tool(args_schema=Arguments)
def generated(query, owner):
    return owner
"""


@given(
    form=st.sampled_from(_FORMS),
    field=st.sampled_from(_FIELDS),
    config=st.sampled_from(_CONFIGS),
    forged=st.fixed_dictionaries({}, optional=dict.fromkeys(["owner", "a", "b"], any_json)),
)
@examples(40)
def test_no_forged_value_reaches_a_field_of_the_authors_model(
    form: str, field: tuple[str, tuple[str, ...]], config: str, forged: dict[str, Any]
) -> None:
    """The same holds of args_schema, under every name from which the model reads the field."""
    declared, names = field
    annotation = form.replace("{}", "str").replace("MARKER", "InjectedToolArg")
    source = _MODULE.format(config=config, annotation=annotation, field=declared)
    note(source)
    module: dict[str, Any] = {}
    exec(compile(source, "generated_module.py", "exec", dont_inherit=True), module)
    made = Made(module["generated"], module)
    sent = {name: value for name, value in forged.items() if name in names}
    message = made.call({"query": "q", **sent}, context={"owner": "the caller's"})

    assert (message.status, message.content) == ("success", "the caller's"), message.content
    assert message.response_metadata["ignored_args"] == sorted(sent)
    assert list(made.schema["properties"]) == ["query"]
