"""What comes with the call of a built-in tool and has to go back, goes back: a thousand calls made at random."""

import random
from typing import Any

from tests.features.native_tools.rest.built_in import (
    TOOLS,
    write_computer_call,
    write_patch_call,
    write_shell_call,
    write_tool_use,
)
from tests.kit.clients import MakeClient

LETTERS = "abcXYZ019_-./:é漢🙂\u202e\n "
IDS = ("call_id", "tool_call_id", "tool_use_id")


def make_text(chance: random.Random) -> str:
    """Make a text that may stand in an id."""
    return "".join(chance.choices(LETTERS, k=chance.randint(1, 30)))


def make_caller(chance: random.Random) -> dict[str, Any]:
    """Make what a program is known by, or nothing."""
    caller = chance.choice([None, {"type": "direct"}, {"type": "program", "caller_id": make_text(chance)}])
    return {} if caller is None else {"caller": caller}


def make_pair(chance: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make a call, and what its answer has to have of it."""
    call_id, caller = make_text(chance), make_caller(chance)
    echoed = {"call_id": call_id, **caller}
    most = chance.choice([None, chance.randint(0, 9999)])
    space = chance.choice([{}, {"namespace": make_text(chance)}])
    toolset = chance.choice(["browser", "computer", make_text(chance)])
    name = chance.choice(["echo", "nope"])
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({**write_shell_call("ls", max_output_length=most), **echoed}, {**echoed, "max_output_length": most}),
        ({**write_patch_call("a.txt"), **echoed}, echoed),
        ({**write_computer_call({"type": "wait"}), "call_id": call_id}, {"call_id": call_id}),
        ({"type": "custom_tool_call", "name": name, "input": "a", **echoed}, echoed),
        ({"type": "function_call", "name": name, "arguments": "{}", **echoed, **space}, {**echoed, **space}),
        ({"type": "tool_search_call", "arguments": {"query": "a"}, "call_id": call_id}, {"call_id": call_id}),
        ({"type": "custom", "id": call_id, "custom": {"name": name, "input": "a"}}, {"tool_call_id": call_id}),
        ({"type": "function_call", "id": call_id, "name": name, "arguments": {}}, {"call_id": call_id, "name": name}),
        (
            {**write_tool_use("key", toolset_name=toolset, text="a"), "id": call_id},
            {"tool_use_id": call_id, "toolset_name": toolset},
        ),
        (
            {"type": "local_shell_call", "id": call_id, "call_id": call_id[::-1], "action": {"command": ["ls"]}},
            {"id": call_id, "call_id": call_id[::-1]},
        ),
    ]
    return chance.choice(pairs)


async def test_what_has_to_go_back_goes_back(make_client: MakeClient) -> None:
    """Also of calls that fail, and nothing that did not come."""
    chance = random.Random(20261123)
    client = await make_client(*TOOLS)
    for _ in range(10):
        pairs = [make_pair(chance) for _ in range(100)]
        sent = [call for call, _ in pairs]
        answers = (await client.post("/tool_calls/batch", json=sent, timeout=60)).json()
        kept = ("caller", "namespace", "toolset_name", "max_output_length", "id", "name", *IDS)
        echoed = [{key: answer[key] for key in kept if key in answer} for answer in answers]
        wanted = [{key: value for key, value in told.items() if value is not None} for _, told in pairs]
        assert echoed == wanted
        assert all("_output" in answer.get("type", "_output") or "result" in answer["type"] for answer in answers)


async def test_a_part_without_an_id_is_answered_without_one(make_client: MakeClient) -> None:
    """Gemini's models need not give one, and know none that was made here."""
    client = await make_client(*TOOLS)
    call = {"name": "echo", "args": {"text": "a"}}
    click = {"name": "click_at", "args": {"x": 1, "y": 2}}

    answers = [
        (await client.post("/tool_calls", json={"functionCall": sent})).json()["functionResponse"]
        for sent in (call, {**call, "id": None}, {**call, "id": "c1"}, click)
    ]

    plain = {"name": "echo", "response": {"output": "a"}}
    assert answers[:3] == [plain, plain, {"id": "c1", **plain}]
    assert "id" not in answers[3]
