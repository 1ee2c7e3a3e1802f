"""Frameworks for agents, each in an environment beside ours, with the tools of a server."""

import json
import re
from pathlib import Path
from typing import Any

from bench.environments import ROOT
from tests.e2e.clients.conftest import find_clients, run_beside

APP = str(ROOT / "app")
PAGE = ROOT / "docs/frameworks.md"
# Frameworks report home, or look for newer versions of themselves, unless they are told not to.
QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TESTING": "true",
    "AGNO_TELEMETRY": "false",
    "HAYSTACK_TELEMETRY_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


def run_framework(kind: str, script: Path, url: str, **environment: str) -> Any:
    """Run a script in an environment of `scripts/install-clients`, and return its last line of JSON.

    Args:
        kind: The environment, such as `frameworks-newer`.
        script: Which prints JSON in its last line.
        url: The server, which the script finds in SIDECALL_URL.
        environment: More variables.
    """
    python = find_clients(kind) / "bin/python"
    given = {**QUIET, "SIDECALL_URL": url, "PYTHONPATH": f"{APP}:{script.parent}", **environment}
    return json.loads(run_beside(python, [str(script)], **given).strip().splitlines()[-1])


def read_recipe(heading: str) -> str:
    """Return the first Python of a section of the page about frameworks."""
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    code = re.search(r"```python[^\n]*\n(.*?)```", section, re.DOTALL)
    assert code is not None, f"{PAGE.name} has no code below {heading}"
    return code[1]


def require_waited(texts: list[str]) -> None:
    """Require that one call has run, and another one was rejected, after a person elsewhere had decided."""
    approved, rejected = texts
    assert "Refunded 100 for order 71." in approved
    assert "Ask for a receipt first." in rejected
    assert "waits until" not in approved + rejected
