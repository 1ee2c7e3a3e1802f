"""The state of a tool that pauses to ask a person."""

import json
from typing import Any

from sidecall.kernel.json_data.to_json import to_text

_LONGEST = 16 * 1024


def copy_state(state: Any) -> Any:
    """Copy a tool's state as JSON.

    Raises:
        ValueError: It is too long, or JSON cannot say it.
    """
    text = to_text(state)
    if len(text.encode()) > _LONGEST:
        raise ValueError(f"A tool's state takes {_LONGEST:,} bytes at most.")
    return json.loads(text)
