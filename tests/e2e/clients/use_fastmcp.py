"""Use a server's tools with FastMCP's client; print what came of it."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from fastmcp import Client

PROGRESS: list[Any] = []
ASKED: list[Any] = []


async def keep_progress(progress: float, total: float | None, message: str | None) -> None:
    """Keep what is told."""
    PROGRESS.append([progress, total, message])


async def accept(message: str, *_: Any) -> Any:
    """Approve, as a person does who looks at the form."""
    ASKED.append(message)
    return {"decision": "approve"}


def wait_for(file: Path) -> None:
    """Wait until a file is there."""
    while not file.exists():
        time.sleep(0.05)


async def main(folder: Path) -> dict[str, Any]:
    """List, call, follow, cancel and approve."""
    address = f"{os.environ['SIDECALL_URL']}/mcp"
    begun = folder / "fastmcp"
    async with Client(address, progress_handler=keep_progress, elicitation_handler=accept) as client:
        names = [it.name for it in await client.list_tools()]
        added = await client.call_tool("add", {"a": 1, "b": 2})
        wrong = await client.call_tool("add", {"a": 1}, raise_on_error=False)
        drawn = await client.call_tool("draw", {})
        await client.call_tool("walk", {"steps": 2})
        waiting = asyncio.create_task(client.call_tool("wait", {"file": str(begun)}))
        await asyncio.to_thread(wait_for, begun)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        refunded = await client.call_tool("refund", {"order": 7, "amount": 2.5}, raise_on_error=False)
    return {
        "names": names,
        "added": added.structured_content,
        "wrong": [wrong.is_error, wrong.content[0].text],
        "drawn": [drawn.content[0].type, drawn.content[0].mimeType],
        "progress": PROGRESS,
        "refunded": refunded.content[0].text,
        "asked": len(ASKED),
    }


print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
