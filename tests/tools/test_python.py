"""Models run Python, in an interpreter without a system or in the server's own inside a sandbox."""

import base64
import os
from typing import Any

import pytest

from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import find_files
from tests.features.sandbox.machine import open_once
from tests.kit.clients import MakeClient
from tests.kit.on_loop import listing_calls_on_loop

HERE = {"Sidecall-Conversation": "one"}
pytestmark = pytest.mark.usefixtures("here")


async def _serve(make_client: MakeClient, **settings: Any) -> Any:
    return await make_client(*discover(find_files(["python"])), **settings)


async def _run(client: Any, code: str) -> dict[str, Any]:
    call = {"name": "run_python", "args": {"code": code}, "id": "call_1", "type": "tool_call"}
    answer = await client.post("/tool_calls", json=call, headers=HERE)
    found: dict[str, Any] = answer.json()
    return found


async def test_code_is_answered_with_all_that_came_of_it(make_client: MakeClient) -> None:
    """What it prints, its value, its error and its files; beside it, as OpenAI's code interpreter has them."""
    client = await _serve(make_client)
    good = await _run(client, "print('hi')\nopen('/workspace/a.txt', 'w').write('x')\n6 * 7")
    bad = await _run(client, "1 / 0")

    assert good["content"] == '{"stdout": "hi\\n", "value": "42", "error": null, "files": ["/workspace/a.txt"]}'
    assert [file["path"] for file in good["artifact"]["files"]] == ["/workspace/a.txt"]
    assert good["artifact"]["outputs"] == [{"type": "logs", "logs": "hi\n\n42"}]
    assert '"files": []' in bad["content"]  # The file is there, but it is not from this code.
    assert "ZeroDivisionError: division by zero" in bad["content"]


async def test_an_image_that_code_writes_is_sent_along(make_client: MakeClient) -> None:
    """As a URL that holds it."""
    client = await _serve(make_client)
    answer = await _run(client, "open('/workspace/a.png', 'wb').write(b'png')")
    [image] = [it for it in answer["artifact"]["outputs"] if it["type"] == "image"]

    assert image["url"] == f"data:image/png;base64,{base64.b64encode(b'png').decode()}"


async def test_the_servers_python_remembers_names(make_client: MakeClient) -> None:
    """From one call of a conversation to the next, and says when they are gone."""
    open_once()
    client = await _serve(make_client, python="cpython")
    codes = ("x = 41", "x + 1", "import json, os\nos._exit(3)", "'x' in globals()")
    contents = [(await _run(client, code))["content"] for code in codes]

    assert '"value": "42"' in contents[1]
    assert "Python has ended with exit code 3" in contents[2]
    assert '"value": "False"' in contents[3]
    assert "state lost" in contents[3]


@pytest.mark.parametrize("forged", ["null", "[]", "{}", '{"value": [1], "error": null}', "[" * 10_000, "not JSON"])
async def test_code_that_answers_itself_is_ended(make_client: MakeClient, forged: str) -> None:
    """On the descriptor that is not its own; nothing of the server fails by it."""
    open_once()
    client = await _serve(make_client, python="cpython")
    frame = f"import os, struct; body = {forged!r}.encode(); os.write(3, struct.pack('!I', len(body)) + body)"

    answer = await _run(client, f"{frame}; os._exit(0)")

    assert (answer["status"], "Python has" in answer["content"]) == ("success", True)


async def test_files_that_code_leaves_behind_are_counted_beside_the_event_loop(make_client: MakeClient) -> None:
    """Before the next code, and after it."""
    client = await _serve(make_client, workspace_max_entries=300)
    with listing_calls_on_loop(os, "scandir") as called:
        first = await _run(client, "for n in range(400):\n    open(f'/workspace/{n}', 'w').write('x')")
        second = await _run(client, "1")

    assert called == []
    assert "may hold 300 files and folders, and does" in first["response_metadata"]["workspace_note"]
    assert second["content"] == "The workspace may hold 300 files and folders, and does. Delete some first."
