"""Repeated reads, refused callers, and secrets."""

from collections.abc import Mapping

from trials.soaking.guest import Act, Guest, expect, expect_kind

_LISTS = (
    "/tools",
    "/tools?format=anthropic&strict=true",
    "/tools?format=gemini",
    "/tools?format=openai-responses",
    "/tools?format=mcp&limit=10",
    "/tools/search?q=add+integers",
    "/openapi/tools.json",
    "/openapi.json",
)
_STATES = ("/status", "/metrics", "/healthz", "/readyz", "/tools/add", "/whoami", "/workspaces/none/files")


async def _list(guest: Guest) -> None:
    """Read a list, and once more with its tag."""
    path = guest.dice.choice(_LISTS)
    answer = await guest.ask("GET", path)
    expect(bool(answer.json), True)
    if "etag" in answer.headers:
        await guest.ask("GET", path, headers={"If-None-Match": answer.headers["etag"]}, status=304)


async def _look(guest: Guest) -> None:
    path = guest.dice.choice(_STATES)
    await guest.ask("GET", path, caller="boss", status=404 if path.startswith("/workspaces") else 200)


async def _misspell(guest: Guest) -> None:
    """Ask for what there is not."""
    await guest.ask("GET", "/tools?formt=openai", status=422)
    await guest.ask("GET", "/nowhere", status=404)
    await guest.ask("PUT", "/tool_calls", {}, status=405)
    expect_kind(await guest.ask("GET", f"/tools/{guest.new_id()}", status=404), "unknown-tool")


async def _break_in(guest: Guest) -> None:
    """Ask without a key, with a wrong one, and with one that may not."""
    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "call_1"}
    await guest.ask("POST", "/tool_calls", call, caller="nobody", status=401)
    await guest.ask("POST", "/tool_calls", call, caller="wrong", status=401)
    await guest.ask("POST", "/tool_calls", call, caller="reader", status=403)
    expect(bool((await guest.ask("GET", "/tools", caller="reader")).json), True)


async def _call_seldom(guest: Guest) -> None:
    """Call a tool with a rate, more often than it may be."""
    answer = await guest.call("seldom", {}, status=(200, 429))
    if answer.status == 429:
        expect_kind(answer, "quota-exceeded")
        expect(answer.headers["retry-after"].isdigit(), True)
    else:
        expect(answer.content, "done")


async def _sign(guest: Guest) -> None:
    """Keep a secret, and have a tool use it; no answer shows it."""
    value = "hidden-word-0123456789"
    await guest.ask("PUT", "/secrets/SIGNING_KEY", {"value": value}, status=204)
    answer = await guest.call("sign", {"text": "this"})
    expect((answer.json["status"], value in answer.content), ("success", False))
    listed = (await guest.ask("GET", "/secrets")).body.decode()
    expect(("SIGNING_KEY" in listed, value in listed), (True, False))


# What is done, and how often in proportion.
ACTS: Mapping[str, tuple[int, Act]] = {
    "lists of tools": (20, _list),
    "state of the server": (15, _look),
    "what there is not": (10, _misspell),
    "no key, a wrong one, a poor one": (10, _break_in),
    "a tool with a rate": (15, _call_seldom),
    "secrets": (10, _sign),
}
