#!/usr/bin/env bash
# What CrewAI tells a model about a parameter that is a dict: an object that may have no member.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check crewai==1.15.30 2>/dev/null
CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true "$folder/env/bin/python" - <<'PYTHON' 2>/dev/null
import json
import sys
from importlib.metadata import version

from crewai.tools import tool
from crewai.utilities.agent_utils import convert_tools_to_openai_schema


@tool("notes")
def write_notes(notes: dict[str, str]) -> str:
    """Write a note on each box."""
    return str(notes)


(offered,), functions, _ = convert_tools_to_openai_schema([write_notes])
notes = offered["function"]["parameters"]["properties"]["notes"]
said = functions["notes"](notes={"left": "fragile"})
print("crewai", version("crewai"), "offers", json.dumps(notes), "strict:", offered["function"]["strict"])
print("and takes", said)
sys.exit(not (notes["additionalProperties"] is False and notes["properties"] == {} and "fragile" in said))
PYTHON
