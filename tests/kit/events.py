"""Read server-sent events as a browser does."""

import json
from typing import Any

Event = tuple[str, Any]
EVENTS = {"Accept": "text/event-stream"}  # what a request says that wants them


def events_in(text: str) -> list[Event]:
    """Give the name of each event and its JSON; comments are left out."""
    *texts, rest = text.split("\n\n")
    assert rest == ""
    blocks = [block.split("\n") for block in texts]
    return [_event(lines) for lines in blocks if not lines[0].startswith(":")]


def _event(lines: list[str]) -> Event:
    name, data = lines
    assert name.startswith("event: ")
    assert data.startswith("data: ")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "), parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def numbered_events_in(text: str) -> list[tuple[int, str, Any]]:
    """Give the number of each event too."""
    found = []
    for block in text.split("\n\n")[:-1]:
        if not block.startswith(":"):
            number, event = block.split("\n", 1)
            found.append((int(number.removeprefix("id: ")), *_event(event.split("\n"))))
    return found
