"""Run the commands of models in a sandbox, as the shells of OpenAI and Anthropic are called."""

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from sidecall import CommandSandbox, ToolAnnotations, ToolContext, ToolException, Workspace, WorkspaceError, tool
from sidecall.kernel.concurrency.fair_queue import CallerKey, key_of
from sidecall.kernel.concurrency.pools import FILES
from sidecall.native import CommandResult

SECONDS = 30.0
MOST_SECONDS = 600.0
#: Seconds that are left for the answer.
RESERVE = 0.5
MOST_CHARACTERS = 65_536
#: The preview's mark for what is left out.
MARK = "…"
MARKS = 2 * len(MARK)
MOST_SHOWN, MOST_VARIABLES = 300, 30
OUTPUTS = "/workspace/.outputs"
SPILL = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
TAGS = ["shell"]
DESTRUCTIVE = ToolAnnotations(read_only=False, destructive=True)
Command = Annotated[str, Field(max_length=200_000)]


async def asks(context: ToolContext, args: Mapping[str, Any], _: str) -> bool:
    """Return whether the commands need approval: unless the operator allows each of them.

    Commands that cannot run here need none; the answer says why.
    """
    sandbox = context.sandbox
    if sandbox is None or await sandbox.explain_lack("commands") is not None:
        return sandbox is None
    commands = args["commands"] if "commands" in args else [args.get("command")]
    return not all(sandbox.allows(command) for command in commands if command)


def preview_shell(workspace: Workspace, sandbox: CommandSandbox, context: ToolContext) -> dict[str, Any]:
    """Return the conversation, the directory, and the variables of earlier commands."""
    start = sandbox.find_start(workspace.directory)
    # The beginnings of many or long ones, so that something is always shown.
    variables = {name: value[:MOST_SHOWN] for name, value in [*start.variables.items()][:MOST_VARIABLES]}
    return {
        "conversation": context.headers.get("sidecall-conversation") or context.context.get("conversation_id"),
        "folder": start.folder,
        "variables_of_earlier_commands": variables,
    }


def preview_bash(restart: bool, workspace: Workspace, sandbox: CommandSandbox, context: ToolContext) -> dict[str, Any]:
    """Return the same of one command."""
    shown = preview_shell(workspace, sandbox, context)
    return shown | ({"folder": "/workspace", "variables_of_earlier_commands": {}} if restart else {})


@tool(
    native="shell",
    requires_approval=asks,
    preview=preview_shell,
    response_format="content_and_artifact",
    timeout=MOST_SECONDS + 10,
    tags=TAGS,
    annotations=DESTRUCTIVE,
)
async def shell(
    commands: Annotated[list[Command], Field(min_length=1, max_length=50)],
    timeout_ms: Annotated[int, Field(ge=0)] | None = None,
    max_output_length: Annotated[int, Field(ge=0)] | None = None,
    *,
    workspace: Workspace,
    sandbox: CommandSandbox,
    context: ToolContext,
) -> tuple[list[CommandResult], dict[str, Any]]:
    """Run commands of a shell, one after the other, in /workspace; there is no network.

    Each runs where the one before it ended, with the variables that it exported, and ends all that it has started.

    Args:
        commands: What to run.
        timeout_ms: Milliseconds after which a command is stopped; 30000 where it is left out.
        max_output_length: Characters of output to answer with at most, of each command and of all together.
    """
    seconds = SECONDS if timeout_ms is None else min(timeout_ms, MOST_SECONDS * 1000) / 1000
    most = MOST_CHARACTERS if max_output_length is None else min(max_output_length, MOST_CHARACTERS)
    ends = time.monotonic() + MOST_SECONDS if context.deadline is None else context.deadline - RESERVE
    results: list[CommandResult] = []
    files: list[str] = []
    left = most if max_output_length is not None else most * len(commands)
    for number, command in enumerate(commands, 1):
        remaining = ends - time.monotonic()
        if remaining <= 0:
            results.append(CommandResult(stderr="Not run: no time was left.", exit_code=None, timed_out=True))
            continue
        # Of those to come room enough is left to say that something is missing.
        room = max(0, min(most, left - MARKS * (len(commands) - number)))
        result, kept = await run(
            command, min(seconds, remaining, MOST_SECONDS), room, workspace, sandbox, key_of(context.caller)
        )
        results.append(result)
        files += kept
        left -= len(result.stdout) + len(result.stderr)
    return results, {"files": files}


@tool(
    native="bash",
    requires_approval=asks,
    preview=preview_bash,
    response_format="content_and_artifact",
    timeout=MOST_SECONDS + 10,
    tags=TAGS,
    annotations=DESTRUCTIVE,
)
async def bash(
    command: Command | None = None,
    restart: bool = False,
    *,
    workspace: Workspace,
    sandbox: CommandSandbox,
    context: ToolContext,
) -> tuple[CommandResult | str, dict[str, Any]]:
    """Run a command of bash in /workspace; there is no network.

    It runs where the one before it ended, with the variables that it exported, and ends all that it has started. It is
    stopped after 30 seconds.

    Args:
        command: What to run.
        restart: Begin anew in /workspace, without the variables of earlier commands.
    """
    if restart:
        sandbox.restart(workspace.directory)
    if command is None:
        if not restart:
            raise ToolException("Say what to run in `command`.")
        return "The shell begins anew.", {"files": []}
    result, files = await run(command, SECONDS, MOST_CHARACTERS, workspace, sandbox, key_of(context.caller))
    return result, {"files": files}


async def run(
    command: str, seconds: float, most: int, workspace: Workspace, sandbox: CommandSandbox, caller: CallerKey
) -> tuple[CommandResult, Sequence[str]]:
    """Run one command; the whole of a cut output is saved to a file next to the others."""
    # In a thread, since commands may leave many files behind.
    await FILES.run_for(caller, workspace.require_room)

    def open_spill(kind: str) -> tuple[int, str] | None:
        name = f"{time.strftime('%H%M%S')}-{secrets.token_hex(3)}-{kind}.txt"
        try:
            workspace.make_folder(OUTPUTS)
            folder = workspace.open(OUTPUTS, os.O_RDONLY | os.O_DIRECTORY)
            try:
                # Not counted here, on the event loop; all is counted when the command has ended.
                return os.open(name, SPILL, 0o644, dir_fd=folder), f"{OUTPUTS}/{name}"
            finally:
                os.close(folder)
        except (WorkspaceError, OSError):  # It is full, and the beginning and the end have to do.
            return None

    end = await sandbox.run_command(command, workspace.directory, seconds, open_spill)
    paths = {path.rpartition("-")[2]: path for path in end.files}
    # An error is shown whole where it fits, and otherwise has a quarter.
    taken = most if end.stdout[1] else len(end.stdout[0].decode(errors="replace"))
    stderr = show(end.stderr, end.sizes[1], max(most // 4, most - taken), paths.get("stderr.txt"))
    stdout = show(end.stdout, end.sizes[0], most - len(stderr), paths.get("stdout.txt"))
    result = CommandResult(stdout, stderr, end.exit_code, timed_out=end.exit_code is None)
    return result, end.files


def show(ends: tuple[bytes, bytes], size: int, most: int, path: str | None) -> str:
    """Return an output as text: its beginning and its end, and between them what is left out and where it is."""
    head, tail = (part.decode(errors="replace") for part in ends)
    if not tail and len(head) <= most:
        return head
    places = [f"; all of it is in {path}", ""] if path else [""]
    notes = [*(f"\n[… cut: it has {size} bytes{place} …]\n" for place in places), f"[… of {size} bytes …]", MARK]
    note = next((it for it in notes if len(it) * 2 <= most), MARK[: max(0, most)])
    kept = max(0, most - len(note))
    end = (tail or head)[-(kept // 2) :] if kept > 1 else ""
    return f"{head[: kept - len(end)]}{note}{end}"
