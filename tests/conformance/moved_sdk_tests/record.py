"""Record what unit tests find that are written for the OpenAI Agents SDK, in an environment that has it.

python -m venv sdk && sdk/bin/pip install openai-agents==0.24.0 && sdk/bin/python tests/conformance/moved_sdk_tests/record.py
"""

import asyncio
import importlib
import json
import logging
import sys
from pathlib import Path

HERE = Path(__file__).parent


async def main() -> None:
    """Record every case."""
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(HERE))
    module = importlib.import_module("cases")
    found = {name: await module.find(case) for name, case in module.CASES.items()}
    (HERE / "expected.json").write_text(json.dumps(found, indent=1) + "\n")


asyncio.run(main())
