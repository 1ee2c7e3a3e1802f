"""`sidecall tools` lists the tools for people, and for providers."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli

TOOLS = '''
from typing import Literal

from sidecall import tool


@tool(tags=["math", "fast"])
def add(a: int, b: int = 1) -> int:
    """Add two numbers
    and no more.

    This is not in the table.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool
def pick(color: Literal["red", "blue"]) -> str:
    """Pick one.

    Args:
        color: Which.
    """
    return color
'''


@pytest.fixture(autouse=True)
def prepared(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put tools into the folder that is worked in."""
    (here / "mine.py").write_text(TOOLS)
    monkeypatch.setenv("COLUMNS", "200")


def test_tools_are_listed_in_a_table() -> None:
    """Name, arguments, first paragraph, tags, and where each is written."""
    result = CliRunner().invoke(cli, ["tools", "--tools", "mine.py"])
    rows = [line.split() for line in result.stdout.splitlines()]

    assert result.exit_code == 0
    assert rows == [
        ["tool", "tokens", "arguments", "description", "tags", "source"],
        ["add", "77", "a:", "integer", "Add", "two", "numbers", "and", "no", "more.", "math", "fast", "mine.py:7"],
        ["b?:", "integer"],
        ["pick", "52", "color:", "one", "of", '"red",', '"blue"', "Pick", "one.", "mine.py:21"],
        ["2", "tools,", "about", "129", "tokens"],
    ]


def test_the_places_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the command line names some."""
    monkeypatch.setenv("SIDECALL_TOOLS", "mine.py")

    result = CliRunner().invoke(cli, ["tools", "--format", "json_schema"])

    assert [schema["title"] for schema in json.loads(result.stdout)] == ["add", "pick"]


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("openai", {"type": "function", "function": {"name": "add"}}),
        ("openai-responses", {"type": "function", "name": "add", "strict": False}),
        ("anthropic", {"name": "add", "input_schema": {"type": "object"}}),
        ("gemini", {"functionDeclarations": [{"name": "add"}, {"name": "pick"}]}),
        ("mcp", {"name": "add", "inputSchema": {"type": "object"}}),
        ("json_schema", {"title": "add", "type": "object"}),
    ],
)
def test_tools_are_listed_as_json(form: str, first: dict[str, Any]) -> None:
    """The output is the array that GET /tools answers with."""
    result = CliRunner().invoke(cli, ["tools", "--tools", "mine.py", "--format", form])
    listed = json.loads(result.stdout)[0]

    assert result.exit_code == 0
    assert listed.keys() >= first.keys()
    assert {key: _cut(listed[key], value) for key, value in first.items()} == first


def _cut(value: Any, like: Any) -> Any:
    """Keep of a value what the other has too."""
    if isinstance(like, dict):
        return {key: value[key] for key in like}
    return [_cut(*pair) for pair in zip(value, like, strict=True)] if isinstance(like, list) else value


def test_json_can_be_strict() -> None:
    """Where a tool can be said strictly."""
    result = CliRunner().invoke(cli, ["tools", "--tools", "mine.py", "--format", "openai", "--strict"])

    assert [definition["function"]["strict"] for definition in json.loads(result.stdout)] == [True, True]


def test_an_unknown_form_is_a_mistake_of_usage() -> None:
    """The ones that exist are named."""
    result = CliRunner().invoke(cli, ["tools", "--tools", "mine.py", "--format", "toml"])

    assert result.exit_code == 2
    assert "'openai-responses'" in result.stderr


@pytest.mark.parametrize(
    "summary",
    ["Close [/b] something.", "Color it [red]now[/red].", "Index a[0] and b[i].", "A path such as [link=x]y."],
)
def test_brackets_in_a_description_are_text(here: Path, summary: str) -> None:
    """They are no markup of the terminal."""
    (here / "odd.py").write_text(
        f'from sidecall import tool\n\n\n@tool\ndef odd() -> str:\n    """{summary}"""\n    return ""\n'
    )

    result = CliRunner().invoke(cli, ["tools", "--tools", "odd.py"])

    assert result.exit_code == 0
    assert summary in result.stdout


def test_brackets_in_arguments_are_text(here: Path) -> None:
    """An enum may hold anything."""
    (here / "odd.py").write_text(TOOLS.replace('"blue"', '"[bold]"'))

    result = CliRunner().invoke(cli, ["tools", "--tools", "odd.py"])

    assert 'one of "red", "[bold]"' in result.stdout


GIVEN = '''
from typing import Annotated

from sidecall import InjectedState, InjectedToolArg, Secret, tool


@tool
def pay(
    cents: int,
    user: Annotated[dict[str, str], InjectedState("user")],
    shop: Annotated[str, InjectedToolArg] = "",
    key: Annotated[str, Secret("PAY_KEY")] = "",
) -> str:
    """Pay.

    Args:
        cents: How much.
    """
    return f"{cents}{user}{shop}{key}"
'''


def test_one_tool_is_shown_with_what_it_is_given(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments, and of hidden parameters where they are from and whether secrets are set."""
    (here / "given.py").write_text(GIVEN)
    monkeypatch.setenv("PAY_KEY", "hush")

    result = CliRunner().invoke(cli, ["tools", "pay", "--tools", "given.py"])

    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == [
        "pay given.py:7",
        "",
        "Pay.",
        "",
        "cents: integer",
        "",
        "injected from path type set",
        "user state state.user object",
        "shop? context context.shop string",
        "key? secret PAY_KEY string yes",
    ]


def test_one_tool_is_printed_for_a_provider() -> None:
    """It alone, in the provider's form."""
    result = CliRunner().invoke(cli, ["tools", "pick", "--tools", "mine.py", "--format", "openai"])

    assert [it["function"]["name"] for it in json.loads(result.stdout)] == ["pick"]


def test_a_tool_that_does_not_exist_is_named_with_similar_ones() -> None:
    """As other commands say it."""
    result = CliRunner().invoke(cli, ["tools", "pik", "--tools", "mine.py"])

    assert str(result.exception) == "there is no tool 'pik'; did you mean pick?"
