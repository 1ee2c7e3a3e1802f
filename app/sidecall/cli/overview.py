"""The commands of this package: where each is, and its line in `sidecall --help`.

Commands and features say the same, but all their modules take seconds to load. `tests/cli/test_overview.py` holds both
together.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Command(NamedTuple):
    """Where a command is, as `package.module:function` or `package.module:typer_app`, and what it does."""

    place: str
    text: str


# In the order in which they are listed.
COMMANDS: Mapping[str, Command] = {
    "serve": Command(
        "sidecall.cli.serve:serve",
        "Serve the tools over HTTP.",
    ),
    "worker": Command(
        "sidecall.cli.worker:worker",
        "Run tools for servers that name the same bus in SIDECALL_FLEET, until a signal.",
    ),
    "fleet": Command(
        "sidecall.features.fleet.cli:fleet",
        "Print who is on the bus that SIDECALL_FLEET names: workers with their queues, and servers with their calls.",
    ),
    "mcp": Command(
        "sidecall.features.mcp_server.cli:mcp",
        "Serve the tools over MCP to the program that starts this one, through its pipes (stdio).",
    ),
    "tools": Command(
        "sidecall.cli.tools:tools",
        "List the tools as a table, or as JSON for a provider.",
    ),
    "stages": Command(
        "sidecall.cli.tools:stages",
        "Print the steps of a tool's calls in their order, and the steps of calls that fail.",
    ),
    "toolkits": Command(
        "sidecall.features.toolkits.cli:toolkits",
        "List the toolkits that ship: whether they are on, what may go wrong with them, and what they lack here.",
    ),
    "call": Command(
        "sidecall.cli.call:call",
        "Run one tool and print its ToolMessage; exit code 1 when its status is error.",
    ),
    "agent": Command(
        "sidecall.features.remote_agents.cli:agent",
        "Ask an agent elsewhere, and print its answer; what it asks a person it asks here.",
    ),
    "settings": Command(
        "sidecall.cli.settings:settings",
        "Print every setting, what it is and where that comes from; exit code 1 where no server would start with them.",
    ),
    "reload": Command(
        "sidecall.features.reload.cli:reload",
        "Have a running server load tools, toolsets and MCP servers again; where one is broken, nothing changes.",
    ),
    "status": Command(
        "sidecall.features.status.cli:status",
        "Print how a running server is: its store, its queues, and what has failed in the last two hours.",
    ),
    "audit": Command(
        "sidecall.features.audit.cli:audit",
        "List who has decided what on a running server, and who was refused, latest first.",
    ),
    "new": Command(
        "sidecall.cli.new:new",
        "Write a tool file with its test.",
    ),
    "check": Command(
        "sidecall.cli.check:check",
        "Check every tool for missing descriptions, types a provider refuses, names too alike and what stops the"
        " start.",
    ),
    "lock": Command(
        "sidecall.features.contract.cli:lock",
        "Write `tools.lock`: the name, hash, description and parameters of each tool, which calls may be pinned to.",
    ),
    "openapi": Command(
        "sidecall.features.openapi_export.cli:openapi",
        "Print the OpenAPI document of the server with all routes, which does not depend on its tools.",
    ),
    "mcp-servers": Command(
        "sidecall.features.mcp_server.cli:mcp_servers",
        "See which tools of other MCP servers have changed, and accept them (SIDECALL_MCP_PIN).",
    ),
    "calls": Command(
        "sidecall.features.calls.cli:calls",
        "Ask a running server for calls that it remembers; alone it lists them, newest first.",
    ),
    "approvals": Command(
        "sidecall.features.approvals.cli:approvals",
        "Decide about calls that wait for a person; alone it lists them, oldest first.",
    ),
    "workspace": Command(
        "sidecall.features.workspaces.cli:workspace",
        "See, fetch, send and delete the files of a conversation.",
    ),
    "keys": Command(
        "sidecall.features.access.cli:keys",
        "Make, list and revoke keys of callers; of each the file has a hash only.",
    ),
}
