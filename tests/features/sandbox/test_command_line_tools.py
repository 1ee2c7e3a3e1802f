"""Tools of one's own that are command lines run in a sandbox, and are otherwise as those that are functions."""

import os
import re
from typing import Any

import pytest

from sidecall import Workspace, tool
from sidecall.kernel.core.errors import InvalidToolOption
from tests.features.sandbox.command_tools import (
    count_words,
    echo_any,
    echo_number,
    print_much,
    read_file,
    say,
    search_file,
    show,
    sleep,
    take,
)
from tests.features.sandbox.machine import open_once
from tests.kit.clients import MakeClient
from tests.kit.processes import list_descendants


async def _call(client: Any, name: str, **args: Any) -> Any:
    call = {"name": name, "args": args, "id": "call_1", "type": "tool_call"}
    return (await client.post("/tool_calls", json=call, headers={"Sidecall-Conversation": "one"})).json()


async def test_arguments_reach_a_command_as_it_says(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """As words, as its input, or as JSON there; no shell reads them, and its output is text or JSON."""
    open_once()
    monkeypatch.setenv("SAY_KEY", "12345")
    client = await make_client(count_words, show, say)
    counted = await _call(client, "count_words", text="one $(id) two")
    shown = await _call(client, "show", words=["a b", "$HOME; id"], key=7, flag=True, rest={"x": 1})
    said = await _call(client, "say", word="hi")

    assert (counted["content"], counted["status"]) == ("3", "success")
    assert shown["content"] == '[["a b", "$HOME; id", "--key=7", "{true}"], {"rest": {"x": 1}, "more": "m"}]'
    assert said["content"] == "hi 5 ls: cannot access '/ /tmp"


async def test_a_command_has_the_files_of_its_conversation(make_client: MakeClient) -> None:
    """Where its function asks for them; what it says of its failure is for the model."""
    open_once()
    client = await make_client(read_file)
    form = {"file": ("a.txt", b"hello\n")}
    await client.post("/workspaces/one/files", files=form, data={"path": "a.txt"})
    found = await _call(client, "read_file", path="a.txt")
    missing = await _call(client, "read_file", path="b.txt")
    outside = await _call(client, "read_file", path="/etc/shadow")

    assert found["content"] == "hello"
    assert (missing["content"], missing["response_metadata"]["error"]["kind"]) == (
        "cat: b.txt: No such file or directory",
        "tool_error",
    )
    assert outside["content"] == "cat: /etc/shadow: No such file or directory"


async def test_an_exit_code_can_be_an_answer(make_client: MakeClient) -> None:
    """Where a shell says so: nothing found is no failure, and a file that there is not is one."""
    open_once()
    client = await make_client(search_file)
    form = {"file": ("a.txt", b"one\n-two; id\n")}
    await client.post("/workspaces/one/files", files=form, data={"path": "a.txt"})
    calls = [("-two; id", "a.txt"), ("three", "a.txt"), ("one", "b.txt")]
    answers = [await _call(client, "search_file", pattern=pattern, path=path) for pattern, path in calls]

    assert [(answer["status"], answer["content"]) for answer in answers] == [
        ("success", "2:-two; id"), ("success", ""), ("error", "grep: b.txt: No such file or directory"),
    ]  # fmt: skip


async def test_output_is_json_where_a_type_says_so(make_client: MakeClient) -> None:
    """Any says nothing: it is a text then, no matter what stands in it."""
    open_once()
    client = await make_client(echo_any, echo_number)
    calls = [("echo_any", "[1"), ("echo_any", "[1]"), ("echo_number", "7"), ("echo_number", "x")]
    answers = [await _call(client, name, text=text) for name, text in calls]

    assert [(answer["status"], answer["content"]) for answer in answers] == [
        ("success", "[1"), ("success", "[1]"), ("success", "7"),
        ("error", "Error: echo_number has not printed JSON, as it should."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a", "b\0"], "An argument holds a zero byte, which no program can be given."),
        (["a" * 131_071], ""),
        (["a" * 131_072], "An argument is too long: it has 131072 bytes, of 131071 at most. Send less in it."),
        (["é" * 65_536], "An argument is too long: it has 131072 bytes, of 131071 at most. Send less in it."),
        (["a"] * 8_000, "The arguments are too many: 8001 words, of 8000 at most. Send fewer."),
        (["a" * 237] * 7_999, ""),
        (["a" * 131_000] * 15, "The arguments are too long: they have 1965004 bytes, of 1900000 at most. Send less."),
    ],
    ids=["zero", "longest", "longer", "longer in bytes", "too many", "most", "too long in all"],
)
async def test_what_no_program_can_be_given_is_refused(make_client: MakeClient, words: list[str], says: str) -> None:
    """With how much it can be."""
    open_once()
    client = await make_client(take)

    assert (await _call(client, "take", words=words))["content"] == says


async def test_a_command_ends_with_its_call(make_client: MakeClient) -> None:
    """At its deadline, with nothing left; one that prints too much is ended before."""
    open_once()
    client = await make_client(sleep, print_much)
    late = await _call(client, "sleep")
    large = await _call(client, "print_much")

    assert late["response_metadata"]["error"]["kind"] == "timeout"
    assert large["content"] == (
        "Error: print_much was ended, since it printed more than 1048576 bytes, the most that are read. Ask for less."
    )
    assert [list_descendants(os.getpid(), name) for name in ("sleep", "yes")] == [[], []]


async def test_a_command_tool_says_where_it_runs(make_client: MakeClient) -> None:
    """As any in the sandbox."""
    open_once()
    client = await make_client(count_words)
    shown = (await client.get("/tools/count_words")).json()

    assert (shown["executor"], shown["sandbox"]["profile"], shown["sandbox"]["refused"]) == (
        "sandbox",
        "bubblewrap",
        None,
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"command": ["echo", "{wrod}"]}, "the tool has no parameter `wrod`; it has: word"),
        ({"command": ["./nowhere.sh"]}, "nowhere.sh cannot be read: No such file or directory"),
        ({"command": ["echo"], "executor": "thread"}, "option `command` is for tools with executor='sandbox'"),
        ({"command": []}, "option `command`"),
        ({"command": ["wc", "<{word}", "-w"]}, "`<{word}` is what the program reads, and has to be the last word."),
        ({"command": ["echo", "{word!r:>10}"]}, "`{word!r:>10}` is no place: a place is a parameter's name in braces"),
        ({"command": ["echo", "{word[0]}"]}, "`{word[0]}` is no place"),
    ],
)
def test_a_command_that_cannot_be_is_refused(options: dict[str, Any], says: str) -> None:
    """When the tool is made, with what to write instead."""

    def echo(word: str) -> str:
        """Echo."""

    with pytest.raises(InvalidToolOption, match=re.escape(says)):
        tool(**options)(echo).compiled  # noqa: B018  it is made then


def test_braces_of_other_languages_are_words() -> None:
    """Unless they name an argument."""

    @tool(command=["jq", "{name:.first}", "{{word:.first}}", "{print $1}", "<{word}"])
    def pick(word: str) -> str:
        """Pick."""

    command = pick.compiled.options.command
    assert command is not None
    assert command.fill({"word": "x"}) == ["jq", "{name:.first}", "{word:.first}", "{print $1}"]


@tool(command=["no-such-program", "{word}"])
def run_missing(word: str) -> str:
    """Run what is not here."""


async def test_a_program_that_is_not_here_is_named(make_client: MakeClient) -> None:
    """To the model, which can leave it alone."""
    open_once()
    client = await make_client(run_missing)
    answer = await _call(client, "run_missing", word="a")

    assert answer["content"] == "Error: run_missing runs the program no-such-program, which is not on this server."
    assert answer["response_metadata"]["error"]["kind"] == "tool_error"


def test_a_function_in_a_sandbox_asks_for_no_workspace() -> None:
    """Since it would get none."""

    @tool(executor="sandbox")
    def look(files: Workspace) -> str:
        """Look."""
        return str(files)

    with pytest.raises(InvalidToolOption, match="`files`: a function with executor='sandbox' gets no Workspace"):
        look.compiled  # noqa: B018  it is made then
