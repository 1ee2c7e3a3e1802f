"""A tool in this process takes calls as the server takes them, and as LangChain's tools do."""

from typing import Any

import pytest

from sidecall import BaseCallbackHandler, RunnableConfig, ToolException, tool
from sidecall.kernel.core.errors import InvalidToolOption, NotAToolCall


@tool
def double(number: int) -> dict[str, int]:
    """Double."""
    return {"doubled": number * 2}


@tool
def fail(how: str) -> None:
    """Fail."""
    raise ToolException("No.")


@pytest.mark.parametrize(
    ("call", "call_id"),
    [
        ({"type": "tool_call", "args": {"number": 2}, "id": ""}, ""),
        ({"type": "tool_call", "args": {"number": 2}, "id": 7}, "7"),
    ],
)
async def test_the_id_of_a_call_is_echoed(call: Any, call_id: str) -> None:
    """As over HTTP, an empty one too."""
    assert (await double.ainvoke(call)).tool_call_id == call_id


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ({"type": "tool_call", "id": "1"}, "The call has the form of langchain, but `args`: Field required."),
        ({"type": "tool_call", "args": [1]}, "The call has the form of langchain, but `args`: Input should be a valid"),
        ({"type": "tool_call", "args": {}, "id": {}}, "The call has the form of langchain, but `id`: Input should be"),
        (5, "A tool is called with a ToolCall, its arguments or a text, not int."),
        (None, "A tool is called with a ToolCall, its arguments or a text, not NoneType."),
    ],
)
async def test_what_is_no_call_is_refused(call: Any, complaint: str) -> None:
    """With the error that is a problem over HTTP."""
    with pytest.raises(NotAToolCall) as caught:
        await double.ainvoke(call)

    assert caught.value.message.startswith(complaint)


async def test_a_call_without_arguments_has_none() -> None:
    """Null is no fault of the call, as over HTTP."""
    message = await double.ainvoke({"type": "tool_call", "args": None, "id": "1"})

    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


async def test_a_text_is_the_first_argument() -> None:
    """As in LangChain; a tool that takes nothing takes it too."""

    @tool
    async def nothing() -> str:
        """Take nothing."""
        return "done"

    assert (await double.ainvoke("2"), await nothing.ainvoke("x")) == ({"doubled": 4}, "done")


async def test_tools_can_be_run_by_their_arguments() -> None:
    """Under LangChain's older names; with an id a message answers."""
    assert await double.arun({"number": 2}) == double.run("2") == {"doubled": 4}
    assert double.run("2", tool_call_id="c").tool_call_id == "c"
    assert double.run("2", color="green", verbose=False) == {"doubled": 4}
    with pytest.raises(InvalidToolOption, match="tool 'double': run has no option colour"):
        double.run("2", colour="green")


async def test_a_config_says_who_listens_and_what_is_configured() -> None:
    """For this one call."""
    heard: list[Any] = []

    class Listener(BaseCallbackHandler):
        """Remember starts."""

        def on_tool_start(self, *said: Any, **details: Any) -> None:
            """Remember one."""
            heard.append((said[1], details["tags"], details["metadata"]))

    @tool(tags=["own"])
    async def read(config: RunnableConfig) -> Any:
        """Read the config."""
        return config["configurable"]

    config: RunnableConfig = {
        "configurable": {"thread": 1, "user": "bo"}, "callbacks": [Listener()], "tags": ["t"], "metadata": {"m": 1}
    }  # fmt: skip

    assert await read.ainvoke({}, config, context={"user": "ada"}) == {"thread": 1, "user": "ada"}
    assert await read.arun({}, callbacks=[Listener()]) == {}
    assert heard == [("{}", ["t", "own"], {"m": 1}), ("{}", ["own"], {})]


@pytest.mark.parametrize(
    ("options", "args", "result"),
    [
        ({"handle_tool_error": True}, {"how": "politely"}, "No."),
        ({"handle_tool_error": "Sorry."}, {"how": "politely"}, "Sorry."),
        ({"handle_tool_error": lambda error: f"Because: {error.message}"}, {"how": "politely"}, "Because: No."),
        ({"handle_validation_error": True}, {}, "Tool input validation error"),
        ({"handle_validation_error": "Mend it."}, {}, "Mend it."),
    ],
)
async def test_handlers_word_plain_results_too(options: Any, args: Any, result: str) -> None:
    """As in LangChain; what no handler words is raised."""
    assert await fail.model_copy(update=options).ainvoke(args) == result
