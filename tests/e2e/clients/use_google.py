"""Read definitions, answers and calls as Google's own types do, and print what its SDK would send of them."""

import json
import sys
from typing import Any

from google.genai import types
from google.genai._gaos.types.interactions.functionresultstep import FunctionResultStep


def write(value: Any) -> Any:
    """Write a value of the SDK's as JSON."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


given = json.load(sys.stdin)
call = types.Part(function_call=types.FunctionCall(id="c1", name="draw", args={"size": 2}), thought_signature=b"\x00")
print(
    json.dumps(
        {
            "tools": [write(types.Tool.model_validate(tool)) for tool in given["tools"]],
            "answers": [write(types.Part.model_validate_json(json.dumps(answer))) for answer in given["answers"]],
            "steps": [write(FunctionResultStep.model_validate(step)) for step in given["steps"]],
            "calls": [call.model_dump(mode="json"), call.model_dump(mode="json", exclude_none=True), write(call)],
        }
    )
)
