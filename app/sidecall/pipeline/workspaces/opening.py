"""Give a tool the files of its call's conversation."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

from sidecall.core.invocation import Invocation
from sidecall.core.run.workspaces import find_conversation
from sidecall.core.tool import CompiledTool
from sidecall.workspace.errors import WorkspaceError
from sidecall.workspace.places import PassingWorkspaces
from sidecall.workspace.shown import show_file
from sidecall.workspace.workspace import Workspace

_PASSING = PassingWorkspaces()
_PATH = re.compile(r"/workspace/[^\s\"'`<>|*?:;,()\[\]{}\\]+")
# Of the files that an answer names, and of its characters that are looked through.
_MOST_FILES = 20
_MOST_TEXT = 100_000


def takes_workspace(tool: CompiledTool) -> bool:
    """Return whether a parameter is filled with the workspace."""
    return any(injection.source == "workspace" for injection in tool.injections)


async def open_workspace(invocation: Invocation) -> None:
    """Open the workspace of the conversation that the call belongs to.

    Raises:
        MissingContext: The conversation is said in a way that cannot be used.
    """
    request = invocation.request
    conversation = find_conversation(request.headers, request.context)
    places = invocation.surroundings.workspaces or _PASSING
    invocation.conversation = conversation
    invocation.workspace = await asyncio.to_thread(places.open, request.caller.tenant, conversation)


def list_files(invocation: Invocation) -> None:
    """List files of the conversation as `files` of the artifact: those whose paths stand there, or in the answer."""
    message, conversation, workspace = invocation.message, invocation.conversation, invocation.workspace
    if message is None or conversation is None or not isinstance(workspace, Workspace):
        return
    artifact = {} if message.artifact is None else message.artifact
    named = artifact.get("files", []) if isinstance(artifact, dict) else None
    if not isinstance(named, list) or not all(isinstance(path, str) for path in named):
        return  # It has files of its own.
    found = []
    for path in dict.fromkeys([*named, *_find_paths(message.content)]):
        file = _look(workspace, path, conversation)
        found += [] if file is None else [file]
        if len(found) == _MOST_FILES:
            break
    if found or named:
        message.artifact = {**artifact, "files": found}


def _look(workspace: Workspace, path: str, conversation: str) -> dict[str, Any] | None:
    for spelled in dict.fromkeys((path, path.rstrip(".!"))):  # A sentence may end with it.
        try:
            entry = workspace.look_at(spelled)
        except WorkspaceError:
            continue
        if not entry.is_folder:
            return show_file(entry, conversation)
    return None


def _find_paths(content: Any) -> Iterator[str]:
    texts = [content] if isinstance(content, str) else [part.get("text") for part in content if isinstance(part, dict)]
    for text in texts:
        if isinstance(text, str):
            yield from _PATH.findall(text[:_MOST_TEXT])


async def leave_workspace(invocation: Invocation) -> None:
    """Note that the call does not use its workspace any more; one that has no conversation goes."""
    workspace, invocation.workspace = invocation.workspace, None
    if workspace is not None:
        places = invocation.surroundings.workspaces or _PASSING
        await asyncio.to_thread(places.end, workspace)
