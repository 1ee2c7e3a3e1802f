"""Tools that are called beyond bounds."""

import asyncio
from typing import Annotated, Any

from pydantic import AnyUrl, BaseModel, Json

from sidecall import Cache, InjectedStore, Store, tool


@tool
async def echo(text: str = "") -> str:
    """Return a text."""
    return text


@tool(cache=Cache(ttl=60), annotations={"read_only": True})
async def look_up(word: str) -> str:
    """Look a word up."""
    return word


@tool(cost=1)
async def bill() -> str:
    """Cost something."""
    return "billed"


@tool
async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


@tool
async def repeat(times: int) -> str:
    """Say much."""
    return "x" * times


@tool(response_format="content_and_artifact")
async def attach(size: int) -> tuple[str, str]:
    """Return an artifact of so many characters."""
    return "see the artifact", "x" * size


@tool(requires_approval=True)
async def ask(text: str = "") -> str:
    """Wait for a person."""
    return text


@tool
async def note(names: list[str], store: Annotated[Store, InjectedStore]) -> str:
    """Write names down."""
    await store.aput(("notes",), "names", names)
    return "noted"


@tool(executor="process")
def hoard() -> int:
    """Take more memory than there is."""
    return len(b"x" * 2_000_000_000)


class Sum(BaseModel):
    """A sum, or something of the same form."""

    left: "Sum | Product | int"


class Product(BaseModel):
    """A product, or something of the same form."""

    left: "Sum | Product | int"


@tool
async def compute(value: Sum | Product) -> str:
    """Compute what is within each other."""
    return "computed"


@tool
async def visit(address: AnyUrl) -> str:
    """Visit an address."""
    return f"visited {address}"


@tool
async def read(text: Json[Any]) -> str:
    """Read a text of JSON."""
    return type(text).__name__
