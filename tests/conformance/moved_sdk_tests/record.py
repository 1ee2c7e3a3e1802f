"""Record what unit tests find that are written for the OpenAI Agents SDK, in an environment that has it.

python -m venv sdk && sdk/bin/pip install openai-agents==0.24.0 && sdk/bin/python tests/conformance/moved_sdk_tests/record.py
"""

import asyncio
import importlib
import json
import logging
import sys
from itertools import product
from pathlib import Path
from typing import Any

from agents import ModelBehaviorError
from agents.run_internal.tool_caller import ensure_tool_caller_allowed

HERE = Path(__file__).parent
ALLOWED = (None, ["direct"], ["programmatic"], ["direct", "programmatic"])
CALLERS = (None, {"type": "direct"}, {"type": "program", "caller_id": "prog_1"}, {"type": "other"})


def try_caller(allowed: Any, caller: Any) -> str | None:
    """Return with what words a run ends in which this caller calls a tool that allows these; None where it does not."""
    call = {"type": "function_call", "name": "rate", "caller": caller}
    try:
        ensure_tool_caller_allowed(tool_call=call, allowed_callers=allowed, tool_name="rate", agent_name="a")
    except ModelBehaviorError as error:
        return str(error)
    return None


async def main() -> None:
    """Record every case."""
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(HERE))
    module = importlib.import_module("cases")
    found = {name: await module.find(case) for name, case in module.CASES.items()}
    found["callers"] = [[*asked, try_caller(*asked)] for asked in product(ALLOWED, CALLERS)]
    (HERE / "expected.json").write_text(json.dumps(found, indent=1) + "\n")


asyncio.run(main())
