"""Read answers of Google's SDK with the Python client, in an environment that has nothing of the server."""

import json
import sys
from typing import Any

from google.genai import types

from sidecall.client.model_output import read_turn


def read(response: Any) -> dict[str, Any]:
    """Return what the client makes of a response, as the SDK would send it back."""
    turn = read_turn(response)
    turn.answers = [{"functionResponse": {"id": "call_1", "name": "double", "response": {"output": "8"}}}]
    messages = [types.Content.model_validate(it) if isinstance(it, dict) else it for it in turn.messages]
    sent = [it.model_dump(mode="json", by_alias=True, exclude_none=True) for it in messages]
    return {"calls": turn.calls, "messages": sent}


given = json.load(sys.stdin)
whole = types.GenerateContentResponse.model_validate(given["whole"])
chunks = [types.GenerateContentResponse.model_validate(chunk) for chunk in given["chunks"]]
cut = [types.GenerateContentResponse.model_validate(chunk) for chunk in given["cut"]]
print(json.dumps([read(whole), read(chunks), read(cut)]))
