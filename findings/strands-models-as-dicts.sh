#!/usr/bin/env bash
# Strands 1.62.0 checks a tool's arguments with the models of its annotations, and then hands over dicts: a function
# with `line: Line` or `lines: list[Line]` gets no Line, whether the agent calls it or its `stream` is asked.
# A good guess would be that it gets what it is annotated with, as in other libraries that list models as schemas.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check strands-agents==1.62.0
cat >"$work/show.py" <<'PYTHON'
import asyncio
from importlib.metadata import version

from pydantic import BaseModel
from strands import tool


class Line(BaseModel):
    sku: str
    count: int = 1


@tool
def count_one(line: Line) -> str:
    """Count."""
    return type(line).__name__


@tool
def count_all(lines: list[Line]) -> str:
    """Count."""
    return f"{[type(line).__name__ for line in lines]} {lines}"


async def show(wanted, args):
    async for event in wanted.stream({"toolUseId": "1", "name": wanted.tool_name, "input": args}, {}):
        print(wanted.tool_name, event["tool_result"]["content"][0]["text"])


print("strands-agents", version("strands-agents"))
asyncio.run(show(count_one, {"line": {"sku": "a"}}))
asyncio.run(show(count_all, {"lines": [{"sku": "a"}]}))
PYTHON
"$work/env/bin/python" "$work/show.py" 2>/dev/null | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
strands-agents 1.62.0
count_one dict
count_all ['dict'] [{'sku': 'a', 'count': 1}]
SEEN
