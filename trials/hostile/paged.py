"""What tools have said on the console's pages: how long the server is held up by making each page."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx

from bench.rounds import milliseconds
from tests.features.console.hostile_texts import TEXTS, TOOLS
from trials.finding import Finding
from trials.hostile.held_up import ask_lag
from trials.serving import serving

_LONGEST = 0.05
# The best of so many counts: others have their turn on the machine, too.
_TIMES = 3
_LONG = 10_000_000
_CALLS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "all texts in one answer": ("answer_all", {}),
    "all texts in an artifact": ("give_all", {}),
    "all texts in an error": ("fail_all", {}),
    "lists 10,000 deep": ("answer_deep", {"levels": 10_000}),
    "10 MB of HTML": ("answer_long", {"size": _LONG, "piece": "<b>words</b> "}),
    "10 MB of one letter": ("answer_long", {"size": _LONG, "piece": "x"}),
    "10 MB of brackets": ("answer_long", {"size": _LONG, "piece": "[1,"}),
    "10 MB of Markdown": ("answer_long", {"size": _LONG, "piece": "# *a* [b](c)\n\n"}),
}


def run() -> Iterator[Finding]:
    """Open the page of each call, and of the tool and the approval whose words are the texts."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "hostile_tools.py"
        file.write_text(TOOLS)
        settings = {"SIDECALL_STORE": f"sqlite:///{folder}/store.db", "SIDECALL_CONSOLE": "on"}
        with (
            serving(f"{file},trials/served/held.py", **settings, TRIAL_KEY="hidden-word-0123456789") as server,
            httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client,
        ):
            pages = {f"number {number}": _call(client, "echo", {"value": it}) for number, it in enumerate(TEXTS)}
            yield _judge(f"the pages of {len(pages)} calls that answer one text each", _open_all(client, pages))
            for what, (name, args) in _CALLS.items():
                yield _judge(f"the page of a call: {what}", _open_all(client, {what: _call(client, name, args)}))
            yield _judge("the tool and its approval, described by all texts", _open_all(client, _ask(client)))
            lists = {name: f"/console/{name}" for name in ("tools", "calls", "approvals", "conversations", "health")}
            yield _judge("the lists of all of these", _open_all(client, lists))


def _judge(what: str, found: tuple[float, str, bool]) -> Finding:
    held, where, are_shown = found
    return Finding(
        "console",
        what,
        "shown; the event loop is held up for 50 ms at most",
        f"{'shown' if are_shown else 'not shown'}; held up for {milliseconds(held)} at most, by {where}",
        are_shown,
        in_time=held <= _LONGEST,
    )


def _call(client: httpx.Client, name: str, args: dict[str, Any]) -> str:
    """Make a call, and return the path of its page once its call is kept."""
    call = {"name": name, "args": args, "id": "call_1", "type": "tool_call"}
    conversation = str(uuid4())
    client.post("/tool_calls", json=call, headers={"Sidecall-Conversation": conversation}).raise_for_status()
    while not (found := client.get("/tool_calls", params={"conversation": conversation, "limit": 1}).json()):
        pass
    return f"/console/calls/{found[0]['id']}"


def _ask(client: httpx.Client) -> dict[str, str]:
    call = {"name": "described", "args": {"text": "\n".join(TEXTS)}, "id": "call_1", "type": "tool_call"}
    asked = client.post("/tool_calls", json=call).json()
    return {"the tool": "/console/tools/described", "the approval": f"/console/approvals/{asked['id']}"}


def _open_all(client: httpx.Client, pages: Mapping[str, str]) -> tuple[float, str, bool]:
    """Return for how long the worst page has held the event loop up, which that is, and whether all are shown."""
    worst, where, are_shown = 0.0, "", True
    for what, path in pages.items():
        held, is_shown = min(_open(client, path) for _ in range(_TIMES))
        are_shown = are_shown and is_shown
        if held >= worst:
            worst, where = held, what
    return worst, where, are_shown


def _open(client: httpx.Client, path: str) -> tuple[float, bool]:
    ask_lag(client)
    answer = client.get(path, headers={"Accept": "text/html"})
    return ask_lag(client), answer.is_success
