"""The server's work for a right call and for wrong ones, by kind of mistake."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from bench.loops._loop import Answer
from bench.rows import call_of
from sidecall import Registry, tool
from sidecall.http.context import RequestContext
from sidecall.main import create_app
from sidecall.rest.answers import answer_call
from sidecall.settings import Settings


class Line(BaseModel):
    """One line of an order."""

    sku: Annotated[str, Field(pattern="^[A-Z]{3}-[0-9]+$")]
    amount: Annotated[int, Field(ge=1, le=99)] = 1


class Card(BaseModel):
    """A card."""

    kind: Literal["card"]
    number: str


class Transfer(BaseModel):
    """A transfer."""

    kind: Literal["transfer"]
    iban: str


@tool
async def order(
    lines: list[Line],
    method: Annotated[Card | Transfer, Field(discriminator="kind")],
    max_days: Annotated[int, Field(ge=1, le=30)] = 5,
    shipping: Literal["normal", "express"] = "normal",
    note: str | None = None,
) -> str:
    """Order articles."""
    return f"{len(lines)} lines by {method.kind} within {max_days} days, {shipping}, {note}"


_LINE = {"sku": "ABC-1", "amount": 2}
_CARD = {"kind": "card", "number": "4242"}
_RIGHT: dict[str, Any] = {"lines": [_LINE], "method": _CARD, "max_days": 3, "shipping": "express"}
_UNPAID = {name: value for name, value in _RIGHT.items() if name != "method"}
_UNHURRIED = {name: value for name, value in _RIGHT.items() if name != "max_days"}

RIGHT = "a right call"
# What is sent, by kind of mistake.
SENT: Mapping[str, Any] = {
    RIGHT: _RIGHT,
    "an argument misspelt": {**_UNPAID, "metohd": _CARD},
    "an optional argument misspelt": {**_UNHURRIED, "max_dasy": 3},
    "an argument under another word": {**_UNPAID, "payment": _CARD},
    "an argument in other letters": {**_UNHURRIED, "maxDays": 3},
    "an argument unlike any": {**_RIGHT, "verbose": True},
    "an argument misspelt in a list": {**_RIGHT, "lines": [{"sku": "ABC-1", "amuont": 2}]},
    "an argument misspelt in a union": {**_RIGHT, "method": {"kind": "card", "numbr": "4242"}},
    "an argument at the wrong depth": {**_UNHURRIED, "lines": [{**_LINE, "max_days": 3}]},
    "an argument missing": _UNPAID,
    "a value of a wrong type": {**_RIGHT, "max_days": "many"},
    "a value out of bounds": {**_RIGHT, "max_days": 300},
    "a value that is not in the list": {**_RIGHT, "shipping": "overnight"},
    "a value that does not match": {**_RIGHT, "lines": [{"sku": "1", "amount": 2}]},
    "a union without its tag": {**_RIGHT, "method": {"number": "4242"}},
    "JSON text for a list": {**_RIGHT, "lines": json.dumps([_LINE])},
    "everything in a wrapper": {"arguments": _RIGHT},
    "text in single quotes": str(_RIGHT),
    "text that was cut off": json.dumps(_RIGHT)[:-9],
}
_BODIES = {kind: json.dumps(call_of("order", args)).encode() for kind, args in SENT.items()}


@asynccontextmanager
async def ready() -> AsyncIterator[Answer]:
    """Build the server as it ships, and take what its routes work with."""
    app = create_app(Settings(), Registry([order]))
    context = RequestContext()

    async def answer(body: bytes) -> bytes:
        return (await answer_call(app.state.parts, body, context)).body

    async with app.router.lifespan_context(app):
        yield answer


async def main() -> None:
    """Print the kinds; then for each line on standard input, a number and a kind, the nanoseconds of so many calls."""
    async with ready() as answer:
        say(json.dumps(list(_BODIES)))
        for line in sys.stdin:
            calls, _, kind = line.strip().partition(" ")
            body = _BODIES[kind]
            start = time.process_time_ns()
            for _ in range(int(calls)):
                await answer(body)
            say(str(time.process_time_ns() - start))


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
