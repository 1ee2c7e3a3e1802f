"""Files: those of conversations, contents, vector stores and what commands in a sandbox do with them."""

from collections.abc import Mapping

from trials.soaking.guest import Act, Guest, expect

_EDGE = "edge0123456789"


def _form(fields: Mapping[str, str], name: str, body: bytes) -> tuple[bytes, Mapping[str, str]]:
    """Write a form with a file, and the header that says so."""
    parts = [
        f'--{_EDGE}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n' for key, value in fields.items()
    ]
    head = f'--{_EDGE}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    whole = "".join([*parts, head]).encode() + body + f"\r\n--{_EDGE}--\r\n".encode()
    return whole, {"Content-Type": f"multipart/form-data; boundary={_EDGE}"}


async def _exchange(guest: Guest) -> None:
    """Send a file, let a tool write another, read both, and remove the conversation."""
    place, sent = f"/workspaces/{guest.new_id()}", guest.dice.randbytes(guest.dice.randrange(20_000))
    body, headers = _form({"path": "/workspace/sent.bin"}, "sent.bin", sent)
    made = (await guest.ask("POST", f"{place}/files", body, headers=headers)).json
    here = {"Sidecall-Conversation": place.rpartition("/")[2]}
    wrote = await guest.call("note", {"text": "Milk"}, headers=here)
    expect(wrote.json["status"], "success")
    listed = (await guest.ask("GET", f"{place}/files")).json["data"]
    expect(sorted(one["path"] for one in listed), ["/workspace/note.txt", "/workspace/sent.bin"])
    read = await guest.ask("GET", f"{place}/files/{made['id']}/content")
    expect(read.body == sent, True)
    await guest.ask("DELETE", f"{place}/files/{made['id']}", status=(200, 204))
    await guest.ask("GET", f"{place}/files/{made['id']}", status=404)
    await guest.ask("DELETE", place, status=204)


async def _edit(guest: Guest) -> None:
    """Write, change, search and patch as models do."""
    here = {"Sidecall-Conversation": guest.new_id()}
    patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch\n"
    expect((await guest.call("apply_patch", {"input": patch}, headers=here)).json["status"], "success")
    found = await guest.call("grep", {"pattern": "two"}, headers=here)
    expect((found.json["status"], "a.txt" in found.content), ("success", True))
    await guest.ask("DELETE", f"/workspaces/{here['Sidecall-Conversation']}", status=204)


async def _keep(guest: Guest) -> None:
    """Keep a content, read a part of it, and forget it."""
    text = "\n".join(f"line {number}" for number in range(1000))
    headers = {"Content-Type": "text/plain"}
    made = (await guest.ask("POST", "/contents", text.encode(), headers=headers, status=201)).json
    place = f"/contents/{made['id']}"
    expect((await guest.ask("GET", place)).body.decode(), text)
    part = await guest.ask("GET", f"{place}?grep=line+77")
    expect("line 777" in part.body.decode(), True)
    await guest.ask("DELETE", place, status=204)
    await guest.ask("GET", place, status=404)


async def _search(guest: Guest) -> None:
    """Send a file, put it into a store, find it by words and by a filter, and delete both."""
    word = f"word{guest.dice.getrandbits(48):x}"
    body, headers = _form({"purpose": "assistants"}, "a.txt", f"The warranty of {word} is two years.".encode())
    sent = (await guest.ask("POST", "/files", body, headers=headers)).json["id"]
    store = (await guest.ask("POST", "/vector_stores", {"name": "one"})).json["id"]
    place = f"/vector_stores/{store}"
    added = await guest.ask("POST", f"{place}/files", {"file_id": sent, "attributes": {"year": 2026}})
    expect(added.json["status"], "completed")
    for filters, most in (
        ({"type": "gte", "key": "year", "value": 2025}, 1),
        ({"type": "lt", "key": "year", "value": 9}, 0),
    ):
        found = (await guest.ask("POST", f"{place}/search", {"query": word, "filters": filters})).json["data"]
        expect([one["file_id"] for one in found], [sent] * most)
    told = await guest.call("file_search", {"query": word})
    expect((told.json["status"], word in told.content), ("success", True))
    await guest.ask("DELETE", place)
    await guest.ask("DELETE", f"/files/{sent}")
    await guest.ask("GET", f"/files/{sent}", status=404)


async def _run_command(guest: Guest) -> None:
    answer = await guest.call("run_python", {"code": "print(6 * 7)"})
    expect((answer.json["status"], "42" in answer.content), ("success", True))


async def _shell(guest: Guest) -> None:
    """Run a command as OpenAI's models ask for it, when a person has approved it."""
    action = {"commands": ["echo 42"]}
    asked = {"type": "shell_call", "call_id": guest.new_id(), "action": action, "status": "completed"}
    waiting = (await guest.ask("POST", "/tool_calls", asked, status=202)).json["id"]
    decided = await guest.ask("POST", f"/approvals/{waiting}", {"decision": "approve"}, caller="boss")
    expect("42" in decided.json["message"]["content"], True)


# What is done, and how often in proportion.
ACTS: Mapping[str, tuple[int, Act]] = {
    "files of a conversation": (15, _exchange),
    "patch and search": (10, _edit),
    "contents": (10, _keep),
    "vector stores": (8, _search),
    "Python in the sandbox": (6, _run_command),
    "shell in the sandbox": (6, _shell),
}
