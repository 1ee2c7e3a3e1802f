"""A tool can be written as a class, and called without a server."""

import asyncio
import math
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from sidecall import BaseTool, InjectedState, ToolContext, tool
from sidecall.kernel.core.errors import InvalidToolOption, SchemaAnnotationError

OPTIONS = (
    "return_direct, response_format, verbose, tags, metadata, timeout, timeout_behavior, timeout_error_function,"
    " executor, queue, memory_limit_mb, unknown_args, extras, annotations, handle_tool_error, handle_validation_error,"
    " failure_error_function, callbacks, tool_input_guardrails, tool_output_guardrails, is_enabled, requires_approval,"
    " preview, strict, max_concurrency, sequential, retry, max_content_bytes, background, idempotency, cache,"
    " scopes, rate, deprecated, native, toolset, input, grammar, command, cost, description, args_schema,"
    " parse_docstring, error_on_invalid_docstring, docstring_style, use_docstring_info"
)


class Adder(BaseTool):
    """Add to a number that the instance was made with."""

    name: str = "add"
    offset: int = 1

    def _run(self, number: int, ctx: ToolContext | None = None) -> int:  # noqa: ARG002  hidden from the model
        """Add.

        Args:
            number: What to add to.
            ctx: Who asks, which nobody is told.
        """
        return number + self.offset


class Both(BaseTool):
    """Echo."""

    name: str = "echo"

    async def _arun(self, text: str) -> str:
        return f"async {text}"

    def _run(self, text: str) -> str:
        return f"sync {text}"


class Bare(BaseTool):
    """Do nothing."""

    name: str = "bare"


class Silent(BaseTool):
    """Describe the class."""

    name: str = "silent"

    def _run(self) -> None: ...


class DoubleArguments(BaseModel):
    """Arguments."""

    number: int = Field(le=10)


class Doubler(BaseTool):
    """Double."""

    name: str = "double"
    args_schema: type[BaseModel] | None = DoubleArguments

    def _run(self, number: int) -> int:
        return number * 2


async def test_a_class_with_run_is_a_tool() -> None:
    """`self` is not a parameter, and the fields of the instance are there."""
    add = Adder(offset=10)

    assert add.compiled.description == "Add."
    assert add.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"number": {"description": "What to add to.", "type": "integer"}},
        "required": ["number"],
    }
    assert await add.ainvoke({"number": "5"}) == 15


async def test_of_run_and_arun_the_async_one_serves() -> None:
    """As in LangChain."""
    assert Both().compiled.is_async is True
    assert await Both().ainvoke({"text": "a"}) == "async a"


def test_the_class_describes_the_tool_when_its_method_does_not() -> None:
    """The docstring of BaseTool itself never does."""

    class Undescribed(BaseTool):
        name: str = "undescribed"

        def _run(self) -> None: ...

    assert Silent().compiled.description == "Describe the class."
    assert Undescribed().compiled.description == ""


def test_an_args_schema_may_be_a_field_of_the_class() -> None:
    """As LangChain's tools have it."""
    message = Doubler().invoke({"type": "tool_call", "name": "double", "args": {"number": 11}, "id": "call_1"})

    assert message.content == "number: Input should be an integer, at most 10"
    assert Doubler().invoke({"number": 4}) == 8


def test_a_class_without_run_is_refused() -> None:
    """The message names the class."""
    with pytest.raises(InvalidToolOption) as caught:
        _ = Bare().compiled

    assert caught.value.message == ("tests.authoring.test_base_tool.Bare: tool 'bare' has to define `_run` or `_arun`.")


def test_a_tool_can_be_called_as_the_function_it_is() -> None:
    """Past schema and pipeline: what is passed is what arrives."""
    assert Adder()(1) == 2
    assert Adder()(number=1.5) == 2.5
    assert asyncio.run(Both()("a")) == "async a"


def test_a_tool_is_compiled_once_until_a_field_is_changed() -> None:
    """As authors change what a decorator has made, also after they have looked at it."""
    add = Adder()
    first = add.compiled
    same = add.compiled
    add.description = "Other."

    assert same is first
    assert (first.description, add.compiled.description) == ("Add.", "Other.")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"nope": 1}, f"there is no option `nope`; the options are: {OPTIONS}."),
        ({"extras": 3}, "option `extras`: Input should be a valid dictionary."),
        ({"annotations": {"harmless": True}}, "option `annotations.harmless`: Extra inputs are not permitted."),
        (
            {"annotations": {"readonly": True}},
            "option `annotations.readonly`: Extra inputs are not permitted. Did you mean read_only?",
        ),
        (
            {"annotations": {"readOnlyHint": True}},
            "option `annotations.readOnlyHint`: Extra inputs are not permitted. Did you mean read_only?",
        ),
        (
            {"parse_docstring": "some"},
            "option `parse_docstring`: Input should be a valid boolean, unable to interpret input.",
        ),
        ({"timeout": "soon"}, "option `timeout`: Input should be a valid number, unable to parse string as a number."),
        ({"timeout": 0}, "option `timeout`: Input should be greater than 0."),
        ({"timeout": math.inf}, "option `timeout`: Input should be a finite number."),
        ({"response_format": "html"}, "option `response_format`: Input should be 'content' or 'content_and_artifact'."),
        ({"tags": "web"}, "option `tags`: Input should be a valid list."),
        (
            {"native": "shel"},
            "option `native`: Input should be 'shell', 'apply_patch', 'computer', 'tool_search', 'bash', "
            "'text_editor', 'memory', 'computer_action' or 'computer_use'.",
        ),
        (
            {"command": "wc -w {text}"},
            "option `command`: Input should be a valid list. It is the program and its arguments, such as "
            '["wc", "-w", "<{text}"].',
        ),
        ({"tags": ["a", 1]}, "option `tags[1]`: Input should be a valid string."),
        ({"metadata": 3}, "option `metadata`: Input should be a valid dictionary."),
        ({"executor": "gpu"}, "option `executor`: Input should be 'inline', 'thread', 'process' or 'sandbox'."),
        (
            {"return_direct": "maybe"},
            "option `return_direct`: Input should be a valid boolean, unable to interpret input.",
        ),
        ({"timeout_behavior": "explode"}, "option `timeout_behavior`: Input should be 'error_as_result' or 'raise'."),
        ({"strict": "yes"}, "option `strict`: Input should be a valid boolean."),
        ({"callbacks": 5}, "option `callbacks`: Input should be a valid list."),
        ({"tool_input_guardrails": len}, "option `tool_input_guardrails`: Input should be a valid list."),
        ({"tool_output_guardrails": len}, "option `tool_output_guardrails`: Input should be a valid list."),
        ({"unknown_args": "keep"}, "option `unknown_args`: Input should be 'ignore', 'tell' or 'forbid'."),
        ({"description": 5}, "option `description`: Input should be a valid string."),
    ],
)
def test_a_wrong_option_is_refused_with_file_and_tool(options: dict[str, Any], expected: str) -> None:
    """At the decorator, so that the traceback leads there too."""

    def search() -> None:
        """Search."""

    with pytest.raises(InvalidToolOption) as caught:
        tool(**options)(search)

    assert caught.value.message.startswith("tests/authoring/test_base_tool.py:")
    assert caught.value.message.endswith(f": tool 'search': {expected}")


def test_a_wrong_option_of_a_class_is_refused_with_its_name() -> None:
    """Its own fields are options too."""
    with pytest.raises(InvalidToolOption) as caught:
        Adder(ofset=3)

    assert caught.value.message == (
        "tests.authoring.test_base_tool.Adder: tool 'Adder': there is no option `ofset`;"
        f" did you mean offset? The options are: {OPTIONS}, offset."
    )


def test_a_schema_is_annotated_as_a_class() -> None:
    """As LangChain wants it; its error is a TypeError."""
    body = {"__annotations__": {"name": str, "args_schema": BaseModel}, "name": "bad", "__module__": __name__}

    with pytest.raises(SchemaAnnotationError, match=r"class Bad says args_schema: BaseModel, .* type\[BaseModel\]"):
        type("Bad", (BaseTool,), body)
    assert issubclass(SchemaAnnotationError, TypeError)


def test_a_class_may_take_any_arguments() -> None:
    """Where a schema says which."""

    class Numbers(BaseModel):
        a: int

    class Open(BaseTool):
        """Take anything."""

        name: str = "open"
        args_schema: type[BaseModel] = Numbers

        def _run(self, *args: Any, **given: Any) -> Any:
            return [list(args), given]

    assert Open().invoke({"a": "1"}) == [[], {"a": 1}]


def test_a_class_needs_a_name() -> None:
    """There is none to be guessed."""
    with pytest.raises(InvalidToolOption) as caught:
        BaseTool()

    assert (
        caught.value.message == "sidecall.authoring.base_tool.BaseTool: tool 'BaseTool': option `name`: Field required."
    )


def test_invoke_does_the_same_from_sync_code() -> None:
    """State and context are passed on."""

    @tool
    def greet(greeting: str, user: Annotated[str, InjectedState("user")]) -> str:
        """Greet."""
        return f"{greeting} {user}"

    assert greet.invoke({"greeting": "Hi"}, state={"user": "Bo"}) == "Hi Bo"
