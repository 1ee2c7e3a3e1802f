"""LangChain's Runnables are offered under a name."""

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableConfig, RunnableLambda
from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from sidecall import StructuredTool, tool
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption


class Greeting(TypedDict):
    """What a greeting is made of."""

    name: str


class Place(BaseModel):
    """Where somebody is."""

    city: str


def greet(greeting: Greeting) -> str:
    """Greet."""
    return f"Hello {greeting['name']}"


async def echo(text: Any, config: RunnableConfig) -> str:
    """Say it again."""
    return f"{text} {config['configurable']}"


class Untold:
    """Run without the newest method."""

    input_schema = Place

    async def ainvoke(self, given: dict[str, Any], config: Any) -> str:
        """Answer with what was given."""
        return f"{given} {config}"


TEXT = {"type": "object", "properties": {"__arg1": {"type": "string"}}, "required": ["__arg1"]}


@pytest.mark.parametrize(
    ("made", "description", "schema"),
    [
        pytest.param(
            tool("greet_someone", RunnableLambda(greet)),
            "greet",
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            id="fields",
        ),
        pytest.param(tool("echo", RunnableLambda(lambda text: text)), "RunnableLambda", TEXT, id="one text"),
        pytest.param(
            tool("prompt", PromptTemplate.from_template("Hi {a}"), description="Fill a prompt."),
            "Fill a prompt.",
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            id="described",
        ),
        pytest.param(
            tool("untold")(Untold()),
            "Untold",
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            id="decorator",
        ),
        pytest.param(
            tool("free", RunnableLambda(lambda it: it).with_types(input_type=dict[str, int])),
            "RunnableLambda",
            {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
            id="free keys",
        ),
    ],
)
def test_the_fields_of_its_input_are_the_arguments(
    made: StructuredTool, description: str, schema: dict[str, Any]
) -> None:
    """One text where the input is no object."""
    assert (made.compiled.description, made.compiled.args_schema.flat) == (description, schema)


@pytest.mark.parametrize(
    ("made", "args", "expected"),
    [
        pytest.param(tool("greet", RunnableLambda(greet)), {"name": "Bo", "z": 1}, "Hello Bo", id="fields"),
        pytest.param(tool("echo", RunnableLambda(echo)), {"any": "Bo"}, "Bo {'user': 'ada'}", id="one text"),
        pytest.param(tool("chat", FakeListChatModel(responses=["Hi!"])), {"__arg1": "Hi"}, "Hi!", id="chat model"),
        pytest.param(
            tool("chain", PromptTemplate.from_template("Hi {a}") | RunnableLambda(lambda it: it.to_string())),
            {"a": "Bo"},
            "Hi Bo",
            id="chain",
        ),
        pytest.param(
            tool("untold", Untold()), {"city": "Ulm"}, "{'city': 'Ulm'} {'configurable': {'user': 'ada'}}", id="schema"
        ),
        pytest.param(
            tool("free", RunnableLambda(lambda it: it).with_types(input_type=dict[str, int])),
            {"a": 1},
            {"a": 1},
            id="free",
        ),
    ],
)
def test_it_runs_with_what_the_model_sends(made: StructuredTool, args: dict[str, Any], expected: Any) -> None:
    """The caller's context is configurable."""
    assert made.invoke(args, context={"user": "ada"}) == expected


def test_its_arguments_are_checked() -> None:
    """Before it runs."""
    with pytest.raises(ValidationError) as caught:
        tool("greet", RunnableLambda(greet)).invoke({"name": 1})

    assert caught.value.__notes__ == ["name: Input should be a string"]


def test_errors_name_the_function_below() -> None:
    """As for our own tools."""
    made = tool("greet", RunnableLambda(greet)).compiled

    assert made.source.startswith("tests/compat/foreign/test_runnables.py:")


def test_a_runnable_needs_a_name() -> None:
    """Its own is none for a model."""
    with pytest.raises(InvalidToolOption) as caught:
        tool(RunnableLambda(greet))

    assert caught.value.message == "a runnable has no name that a model could call; give one: tool('name', runnable)."


def test_what_a_runnable_cannot_say_stops_the_start() -> None:
    """No matter what its library raises."""

    class Broken(Untold):
        """Have an input that cannot be said."""

        def get_input_jsonschema(self) -> dict[str, Any]:
            raise RuntimeError("no schema\nat all")

    with pytest.raises(DefinitionError) as caught:
        tool("mine", Broken())

    assert caught.value.message.endswith(".Broken: tool 'mine' cannot be taken over: RuntimeError: no schema")


def test_what_is_no_runnable_is_refused() -> None:
    """With what is wanted."""
    with pytest.raises(InvalidToolOption, match="@tool decorates a function, not SimpleNamespace"):
        tool("name", SimpleNamespace(invoke=print))
