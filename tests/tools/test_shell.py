"""Models of every provider run commands in a sandbox, in the files of their conversation."""

import json
import os
import subprocess
from typing import Any

import pytest

from sidecall.features.sandbox import cgroups, launcher
from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import find_files
from tests.features.sandbox.machine import open_once
from tests.kit.clients import MakeClient
from tests.kit.on_loop import listing_calls_on_loop

HERE = {"Sidecall-Conversation": "one"}
pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    """Skip where there is none."""
    open_once()


def _serve(make_client: MakeClient, **settings: Any) -> Any:
    allowed = ("seq", "pwd", "cd", "cat", "sleep", "exit", "env")
    return make_client(*discover(find_files(["shell"])), shell_allow=allowed, **settings)


async def _call(client: Any, name: str, args: dict[str, Any]) -> Any:
    call = {"name": name, "args": args, "id": "call_1", "type": "tool_call"}
    return await client.post("/tool_calls", json=call, headers=HERE)


async def _post_item(client: Any, **action: Any) -> Any:
    item = {"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed", "action": action}
    return await client.post("/tool_calls", json=item, headers=HERE)


async def test_commands_are_answered_one_by_one(make_client: MakeClient) -> None:
    """Each runs where the last one ended; its exit code is exact, and its deadline its own."""
    client = await _serve(make_client)
    answer = (await _post_item(client, commands=["cd /tmp", "pwd", "exit 3", "sleep 60"], timeout_ms=900)).json()

    assert (answer["type"], answer["call_id"], answer["status"]) == ("shell_call_output", "call_1", "completed")
    assert answer["output"] == [
        {"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "/tmp\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "", "stderr": "", "outcome": {"type": "exit", "exit_code": 3}},
        {"stdout": "", "stderr": "", "outcome": {"type": "timeout"}},
    ]


async def test_a_long_output_is_cut_and_kept_beside_the_files(make_client: MakeClient) -> None:
    """The answer says where all of it is, and a command can read it there."""
    client = await _serve(make_client)
    answer = (await _call(client, "bash", {"command": "seq 30000"})).json()
    [path] = [file["path"] for file in answer["artifact"]["files"]]
    again = (await _call(client, "bash", {"command": f"cat {path}"})).json()

    assert answer["content"].startswith("1\n2\n")
    assert f"[… cut: it has 168894 bytes; all of it is in {path} …]" in answer["content"]
    assert answer["content"].endswith("29999\n30000")
    assert len(answer["content"]) < 66_000
    assert "it has 168894 bytes" in again["content"]


async def test_a_model_may_ask_for_less(make_client: MakeClient) -> None:
    """Of each command, and of all together."""
    client = await _serve(make_client)
    outputs = (await _post_item(client, commands=["seq 100", "seq 100"], max_output_length=150)).json()["output"]

    assert "it has 292 bytes" in outputs[0]["stdout"]
    assert sum(len(it["stdout"]) for it in outputs) <= 150


_OUT, _ERR = "o" * 40, "e" * 40


@pytest.mark.parametrize(
    ("written", "most", "shown"),
    [
        ((0, 40), 100, ("", _ERR)),  # What stdout leaves.
        ((40, 40), 80, (_OUT, _ERR)),
        ((40, 40), 60, (_OUT, f"{'e' * 10}…{'e' * 9}")),
        ((40, 40), 50, (f"{'o' * 11}[… of 40 bytes …]{'o' * 10}", f"{'e' * 6}…{'e' * 5}")),
        ((40, 40), 4, ("o…o", "…")),
        ((40, 40), 0, ("", "")),
    ],
)
async def test_both_outputs_share_what_may_be_shown(
    written: tuple[int, int], most: int, shown: tuple[str, str], make_client: MakeClient
) -> None:
    """Errors have what the rest leaves, and a quarter at least; what is missing is marked."""
    client = await _serve(make_client)
    out, err = written
    command = f"printf '{'o' * out}'; printf '{'e' * err}' >&2"
    await _approve(client, commands=[command], max_output_length=most)
    [output] = (await _post_item(client, commands=[command], max_output_length=most)).json()["output"]

    assert (output["stdout"], output["stderr"]) == shown


async def test_a_command_for_which_no_room_is_left_says_so(make_client: MakeClient) -> None:
    """An empty output would read as that of a command that wrote nothing."""
    client = await _serve(make_client)
    outputs = (await _post_item(client, commands=["seq 100", "seq 9"], max_output_length=40)).json()["output"]

    assert [it["stdout"] for it in outputs][1] == "1…"


@pytest.mark.parametrize(
    "command",
    [
        "echo hi",
        "pwd; id",
        "seq 1 | cat",
        "cat $(id)",
        "pwdx 1",
        "cat 'a'",
        "cat *",
        "pwd\nid",
        "cat < a",
        "A=1 pwd",
        "cat a\0b",
    ],
)
async def test_a_person_is_asked_about_other_commands(make_client: MakeClient, command: str) -> None:
    """All but plain words that begin as the operator allows."""
    client = await _serve(make_client)
    answers = [
        await _call(client, "bash", {"command": command}),
        await _call(client, "shell", {"commands": ["pwd", command]}),
    ]

    assert [answer.status_code for answer in answers] == [202, 202]


async def test_bash_begins_anew_when_it_is_asked_to(make_client: MakeClient) -> None:
    """And says what it lacks where it is asked for nothing."""
    client = await _serve(make_client)
    texts = [
        (await _call(client, "bash", args)).json()["content"]
        for args in ({"command": "cd /tmp"}, {"command": "pwd"}, {"restart": True}, {"command": "pwd"}, {})
    ]

    assert texts == ["[no output]", "/tmp", "The shell begins anew.", "/workspace", "Say what to run in `command`."]


async def test_the_trials_of_the_sandbox_are_told(make_client: MakeClient) -> None:
    """By the probe, and with each tool that needs it."""
    client = await _serve(make_client)
    ready = (await client.get("/readyz")).json()["sandbox"]
    shown = (await client.get("/tools/bash")).json()["sandbox"]

    assert (ready["profile"], len(ready["checks"])) == ("bubblewrap", 6)
    assert all(check["passed"] for check in ready["checks"])
    assert (shown["profile"], shown["checks"], shown["reason"]) == ("bubblewrap", ready["checks"], None)


async def _approve(client: Any, **action: Any) -> Any:
    waiting = await _post_item(client, **action)
    return await client.post(f"/approvals/{waiting.json()['id']}", json={"decision": "approve"})


async def test_what_a_person_approved_changes_no_command_that_is_allowed(make_client: MakeClient) -> None:
    """Neither by the place of programs nor by variables that the loader reads; other commands still find them."""
    client = await _serve(make_client)
    put = "mkdir bin; printf '#!/bin/sh\\necho hijacked' > bin/pwd; chmod +x bin/pwd"
    await _approve(
        client, commands=[f"{put}; export PATH=/workspace/bin:$PATH LD_PRELOAD=/workspace/none.so WORD=kept"]
    )

    allowed = (await _post_item(client, commands=["env", "pwd"])).json()["output"]
    asked = (await _approve(client, commands=["echo $WORD"])).json()

    assert "LD_PRELOAD" not in allowed[0]["stdout"] + allowed[0]["stderr"]
    assert (allowed[1]["stdout"], allowed[1]["stderr"]) == ("/workspace\n", "")
    assert "kept" in str(asked)


async def test_where_a_shell_was_goes_with_the_files(make_client: MakeClient) -> None:
    """A conversation of the same name begins anew."""
    client = await _serve(make_client)
    await _post_item(client, commands=["cd /tmp"])
    before = (await _post_item(client, commands=["pwd"])).json()["output"][0]["stdout"]
    await client.delete("/workspaces/one")
    after = (await _post_item(client, commands=["pwd"])).json()["output"][0]["stdout"]

    assert (before, after) == ("/tmp\n", "/workspace\n")


async def test_a_time_beyond_every_clock_is_the_longest(make_client: MakeClient) -> None:
    """And no mistake of ours."""
    client = await _serve(make_client)

    answer = (await _post_item(client, commands=["pwd"], timeout_ms=10**400)).json()

    assert answer["output"][0]["stdout"] == "/workspace\n"


async def test_who_approves_is_told_where_a_command_begins(make_client: MakeClient) -> None:
    """Of which conversation it is, in which folder, and what earlier commands have left it."""
    client = await _serve(make_client)
    await _approve(client, commands=["cd /tmp; export PATH=/workspace/bin:$PATH"])
    waiting = [
        (await _post_item(client, commands=["ls"])).json(),
        (await _call(client, "bash", {"command": "ls", "restart": True})).json(),
    ]

    path = "/workspace/bin:/usr/local/bin:/usr/bin:/bin"
    first, anew = (one["preview"] for one in waiting)
    assert (first["conversation"], first["folder"]) == ("one", "/tmp")
    assert first["variables_of_earlier_commands"]["PATH"] == path
    assert anew == {"conversation": "one", "folder": "/workspace", "variables_of_earlier_commands": {}}


async def test_a_person_who_makes_two_of_one_sees_both(make_client: MakeClient) -> None:
    """In the older form, which has one output."""
    client = await _serve(make_client)
    item = {"type": "local_shell_call", "id": "ls_1", "call_id": "call_1", "status": "completed"}
    call = {**item, "action": {"type": "exec", "command": ["ls"], "env": {}}}
    waiting = (await client.post("/tool_calls", json=call, headers=HERE)).json()
    decision = {"decision": "approve", "args": {"commands": ["echo one", "echo two >&2; exit 3"]}}
    await client.post(f"/approvals/{waiting['id']}", json=decision)
    answer = (await client.post("/tool_calls", json=call, headers=HERE)).json()

    assert json.loads(answer["output"]) == {
        "stdout": "one\n",
        "stderr": "two\n",
        "outcome": {"type": "exit", "exit_code": 3},
    }


async def test_a_workspace_that_was_closed_is_opened_again(make_client: MakeClient) -> None:
    """Nobody's operator has to."""
    client = await _serve(make_client)
    await _approve(client, commands=["chmod 000 /workspace"])

    assert (await _post_item(client, commands=["pwd"])).json()["output"][0]["stdout"] == "/workspace\n"


async def test_files_that_a_command_leaves_behind_are_counted_beside_the_event_loop(make_client: MakeClient) -> None:
    """Before the next one, after it, and where both of its outputs are kept whole."""
    client = await _serve(make_client, workspace_max_entries=300)
    many = "seq 30000; seq 30000 >&2; mkdir -p many; cd many; for n in $(seq 400); do ln -s none $n; done; cd .."
    await _call(client, "bash", {"command": "pwd"})  # The sandbox has been tried.
    with listing_calls_on_loop(os, "scandir") as called:
        approved = (await _approve(client, commands=[many])).json()
        second = (await _call(client, "bash", {"command": "pwd"})).json()

    assert called == []
    assert len(approved["message"]["artifact"]["files"]) == 2
    assert "may hold 300 files and folders, and does" in approved["message"]["response_metadata"]["workspace_note"]
    assert second["content"] == "The workspace may hold 300 files and folders, and does. Delete some first."


async def test_a_sandbox_is_bounded_and_ended_beside_the_event_loop(make_client: MakeClient) -> None:
    """Whether it ends by itself, at its deadline, or before it has begun; and it is tried there, too."""
    client = await _serve(make_client)
    with (
        listing_calls_on_loop(cgroups.Groups, "open") as opened,
        listing_calls_on_loop(cgroups.Group, "add", "remove") as changed,
        listing_calls_on_loop(launcher.LaunchedProgram, "release") as ended,
        listing_calls_on_loop(subprocess.Popen, "wait") as waited,
    ):
        answer = (await _post_item(client, commands=["pwd", "sleep 60"], timeout_ms=500)).json()
        await _post_item(client, commands=["sleep 60"], timeout_ms=1)

    assert [one["outcome"]["type"] for one in answer["output"]] == ["exit", "timeout"]
    assert (opened, changed, ended, waited) == ([], [], [], [])
