"""Let Schemathesis compare a live server with its OpenAPI document."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving

TOOLS = "trials/served/typed.py"
NOBODY: Mapping[str, str] = {}
_HOOKS = Path(__file__).with_name("schemathesis_hooks.py").resolve()
# What is no contradiction, per operation: - A query has no types, so a `tag=0.5` that is meant to be a wrong number is
# a right text. - Arguments that are right in general may still be wrong for the tool that waits for approval. - Which
# lines and values a content has is not in the document, nor that `*/*` means no forms. - The content that is read is
# always the same, also after another has been deleted. - A made-up key next to the right one is refused. - A cursor
# goes with a limit, a search with some forms, and what is a regular expression no document says. - Which arguments are
# right is for each tool to say; as an operation it answers with a status where it fails. - A call can be known and what
# was sent not be kept, for instance where a context came with it.
_CONFIGURATION = """
hooks = "{hooks}"

[parameters]
"path.approval_id" = "{approval}"

[[operations]]
include-operation-id = "get_content"

[operations.parameters]
"path.content_id" = "{content}"

[operations.checks]
positive_data_acceptance.enabled = false
use_after_free.enabled = false

[[operations]]
include-operation-id = "create_content"

[operations.checks]
positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = ["list_tool_calls", "export_tool_calls", "get_tools_document"]

[operations.checks]
negative_data_rejection.enabled = false

[[operations]]
include-operation-id = "replay_tool_call"

[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", 401, 404, 409, 410, 429, "5xx"]

[[operations]]
include-operation-id = ["list_tools", "search_tools"]

[operations.checks]
negative_data_rejection.enabled = false
positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = "call_tool"

[operations.checks]
negative_data_rejection.enabled = false
positive_data_acceptance.enabled = false
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 500, 504]

[[operations]]
include-operation-id = "decide_approval"

[operations.checks]
positive_data_acceptance.enabled = false
"""


@dataclass(frozen=True, slots=True)
class Conformance:
    """What Schemathesis found: the number of requests, and the failures."""

    requests: int
    failures: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether requests were sent and none failed."""
        return self.requests > 0 and not self.failures

    def __str__(self) -> str:
        shown = f" ({'; '.join(self.failures[:5])})" if self.failures else ""
        return f"{self.requests:,} of Schemathesis with {len(self.failures)} failures{shown}"


def run() -> Iterator[Finding]:
    """Try the first half of O1."""
    with serving(TOOLS) as server:
        found = asyncio.run(conform(server, max_examples=25, seed=2))
    yield Finding(
        "O1",
        "Schemathesis with all its checks, against the document that the server itself gives",
        "0 failures",
        str(found),
        found.holds,
    )


async def conform(
    server: Server, max_examples: int, seed: int = 1, headers: Mapping[str, str] = NOBODY, foreign: str = ""
) -> Conformance:
    """Run all checks of all phases against a server, with an existing approval and artifact.

    Args:
        server: The server.
        max_examples: The number of generated requests for each operation and phase.
        seed: Repeats the same requests.
        headers: The credential of the requests.
        foreign: A text that no answer may contain.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schemathesis.toml").write_text(await _configuration(server, headers))
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"]
        options = ["--max-examples", str(max_examples), "--seed", str(seed), "--no-shrink"]
        more = ["--continue-on-failure", "--report", "json", "--report-json-path", "report.json"]
        more += [word for name, value in headers.items() for word in ("--header", f"{name}: {value}")]
        output = await _run([*command, *options, *more], folder, foreign)
        if not (folder / "report.json").exists():
            return Conformance(0, (output.decode(errors="replace").strip()[-300:],))
        return read_report(json.loads((folder / "report.json").read_text()))


async def _run(command: list[str], folder: Path, foreign: str) -> bytes:
    environment = {**os.environ, "FOREIGN": foreign}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return output


async def _configuration(server: Server, headers: Mapping[str, str]) -> str:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, headers=headers) as client:
        waiting = await client.post("/tool_calls", json={"name": "approved", "args": {"amount": 1}})
        cut = await client.post("/tool_calls", json={"name": "kept", "args": {}})
    content = cut.json()["response_metadata"]["artifact_url"].rpartition("/")[2]
    return _CONFIGURATION.format(approval=waiting.json()["id"], content=content, hooks=_HOOKS)


def read_report(report: Mapping[str, Any]) -> Conformance:
    """Read the JSON report of a run."""
    failures = [f"{found['title']}: {', '.join(found['operations'])}" for found in report["failures"]]
    errors = [str(error["title"]) for error in report["errors"]]
    return Conformance(report["test_cases"]["generated"], (*failures, *errors))
