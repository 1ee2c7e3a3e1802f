"""Hidden parameters are filled before anything is checked."""

from typing import Annotated

import pytest

from sidecall import InjectedToolArg, Secret, ToolMessage, tool
from sidecall.kernel.core.errors import MissingContext
from tests.kit.calls import run


@tool
async def hidden(a: int, key: Annotated[str, InjectedToolArg]) -> str:
    """Use a key."""
    return f"{a} {key}"


@tool(unknown_args="forbid")
async def hidden_and_closed(a: int, key: Annotated[str, InjectedToolArg] = "default") -> str:
    """Use a key."""
    return f"{a} {key}"


@tool
async def plain(key: str) -> str:
    """Use a key of the model's."""
    return key


async def test_a_forged_value_is_dropped_before_the_caller_is_asked() -> None:
    """The model cannot stand in for the caller."""
    with pytest.raises(MissingContext):
        await run(hidden, {"a": 1, "key": "x"})


async def test_the_callers_fault_is_found_before_the_models() -> None:
    """Repairing the arguments would not help."""
    with pytest.raises(MissingContext):
        await run(hidden, {"a": "x"})


async def test_a_forged_value_is_no_unknown_argument() -> None:
    """A tool that forbids those still only ignores it."""
    message: ToolMessage = await run(hidden_and_closed, {"a": 1, "key": "x"})

    assert message.content == "1 default"
    assert message.response_metadata["ignored_args"] == ["key"]


async def test_context_does_not_reach_parameters_that_are_not_hidden() -> None:
    """What is beside the call is not arguments."""
    message = await run(plain, context={"key": "x"})

    assert message.content == "key: Field required (string)"


async def test_the_sent_arguments_are_left_as_they_were() -> None:
    """They belong to the caller."""
    args = {"a": 1, "key": "x"}

    await run(hidden, args, context={"key": "k"})

    assert args == {"a": 1, "key": "x"}


async def test_a_secret_that_is_missing_is_found_before_the_models_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """To repair the arguments would not help; what was forged is dropped before."""
    monkeypatch.delenv("SMS_KEY", raising=False)

    @tool
    async def send(text: str, key: Annotated[str, Secret("SMS_KEY")]) -> str:
        """Send."""
        return text + key

    message = await run(send, {"key": "forged"})

    assert message.response_metadata["error"]["kind"] == "not_configured"
    assert message.response_metadata["ignored_args"] == ["key"]


async def test_a_tool_without_hidden_parameters_passes_by() -> None:
    """Nothing is dropped or filled."""
    message = await run(plain, {"key": "k"}, context={"key": "c"})

    assert (message.content, message.response_metadata["ignored_args"]) == ("k", [])
