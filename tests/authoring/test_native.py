"""A tool that implements a built-in tool can be called as one, or is refused at registration."""

from typing import Any

import pytest

from sidecall import Registry, tool
from sidecall.kernel.core.errors import InvalidToolOption, ToolAlreadyRegistered
from sidecall.native import CommandResult, Grammar, PatchOperation, PatchResult, ShellCommand
from tests.kit.calls import run


def take_commands(commands: list[str]) -> list[CommandResult]:
    """Run them."""
    return [CommandResult(command) for command in commands]


def take_text(expression: str) -> str:
    """Calculate.

    Args:
        expression: What.
    """
    return expression


def take_both(commands: list[str], where: str) -> str:
    """Run them there."""
    return where + commands[0]


def test_a_shell_is_a_function_with_arguments() -> None:
    """For every model that has no shell of its own."""

    @tool(native="shell", args_schema=ShellCommand)
    def shell(commands: list[str], timeout_ms: int | None, max_output_length: int | None) -> list[CommandResult]:
        """Run commands."""
        return [CommandResult(f"{command} {timeout_ms} {max_output_length}") for command in commands]

    schema = shell.compiled.args_schema.flat
    assert list(schema["properties"]) == ["commands", "timeout_ms", "max_output_length"]
    assert schema["required"] == ["commands"]


def test_a_patch_is_a_function_with_arguments() -> None:
    """Of which the diff may be left out."""

    @tool(native=["apply_patch"], args_schema=PatchOperation)
    def apply_patch(type: str, path: str, diff: str | None) -> PatchResult:
        """Change a file."""
        return PatchResult(completed=True, output=f"{type} {path} {diff}")

    assert apply_patch.compiled.args_schema.flat["required"] == ["type", "path"]
    assert apply_patch.compiled.options.native == ("apply_patch",)
    assert apply_patch.compiled.output_schema is None


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        (take_text, {"native": "shell"}, "shell is called with `commands`, and the tool has no `commands`"),
        (take_both, {"native": "shell"}, "shell may be called without `where`; give a default"),
        (take_commands, {"input": "text"}, "takes one argument, a string"),
        (take_both, {"input": "text"}, "takes one argument, a string"),
        (take_text, {"grammar": Grammar("regex", "a")}, 'is for tools with input="text"'),
        (take_text, {"input": "text", "grammar": Grammar("regex", "(")}, "is no regular expression"),
        (take_text, {"input": "text", "toolset": "browser"}, "does not go with"),
        (take_commands, {"native": "shell", "toolset": "browser"}, "does not go with"),
        (take_text, {"native": "computer_action"}, "is called with `action`"),
        (take_text, {"native": "sheet"}, "native"),
        (take_text, {"toolset": "browsr"}, "option `toolset`: Input should be 'browser' or 'computer'"),
    ],
)
def test_a_tool_that_does_not_fit_is_refused(function: Any, options: dict[str, Any], said: str) -> None:
    """With words that say what to change."""
    with pytest.raises(InvalidToolOption, match=said):
        tool(**options)(function).compiled  # noqa: B018


def test_a_screen_has_a_size() -> None:
    """Which Anthropic's declaration says."""

    def use(action: str) -> str:
        """Do it."""
        return action

    with pytest.raises(InvalidToolOption, match=r"display_width_px.*extras"):
        tool(native="computer_action")(use).compiled  # noqa: B018


async def test_a_regular_expression_is_held() -> None:
    """It has to match the whole text, no matter which model calls the tool."""
    count = tool(input="text", grammar=Grammar("regex", "[0-9]+"))(take_text)
    assert count.compiled.args_schema.flat["properties"]["expression"] == {
        "type": "string",
        "description": "What.\n\nA text that this regex grammar allows:\n[0-9]+",
        "pattern": "^(?:[0-9]+)$",
    }
    assert (await run(count, {"expression": "12"})).content == "12"
    refused = await run(count, {"expression": "12a"})
    assert (refused.status, refused.content) == (
        "error", "expression: Input should be a string, matching ^(?:[0-9]+)$ (What)"
    )  # fmt: skip


def test_members_of_two_toolsets_do_not_clash() -> None:
    """Nor does a tool of one's own of that name."""

    def key(text: str) -> str:
        """Press."""
        return text

    pressers = [tool(toolset="browser")(key), tool(toolset="computer")(key), tool(key)]
    assert Registry(pressers).names == ["browser_key", "computer_key", "key"]


def test_a_built_in_tool_is_implemented_once() -> None:
    """Or calls would go to either."""
    first, second = (tool(name, native="shell")(take_commands) for name in ("first", "second"))
    with pytest.raises(ToolAlreadyRegistered, match="'first' and 'second' both implement shell"):
        Registry([first, second])


def test_no_other_tool_has_the_name_of_a_built_in_one() -> None:
    """By which Anthropic's models call it."""

    def edit(command: str, path: str) -> str:
        """Edit."""
        return command + path

    editor = tool("editor", native="text_editor")(edit)
    other = tool("str_replace_based_edit_tool")(take_text)
    with pytest.raises(ToolAlreadyRegistered, match="'editor' is called 'str_replace_based_edit_tool'"):
        Registry([other, editor])
