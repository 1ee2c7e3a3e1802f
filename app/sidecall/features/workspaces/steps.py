"""Give a tool the files of its call's conversation."""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sidecall.features.workspaces.entries import Entry
from sidecall.features.workspaces.paths import WorkspaceError, join_path, split_path
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.workspaces import TemporaryWorkspaces
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import CLEARING, FILES
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import WORKSPACE
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage
from sidecall.kernel.ports.workspaces import FIELD, HEADER, find_conversation, find_lasting

if TYPE_CHECKING:
    from sidecall.features.workspaces import entries as _entries


_PASSING = TemporaryWorkspaces()
# The hint in answers of calls without a conversation, whose files would seem to be lost.
_GONE = (
    f"The files that this call has written are gone: it belongs to no conversation. The program keeps them by sending"
    f" the header {HEADER}, or `{FIELD}` in the `context` beside the call."
)
# Maximum files that an answer lists, and paths that are looked for.
_MOST_FILES = 20

_MOST_LOOKS = 500


def takes_workspace(tool: CompiledTool) -> bool:
    """Return whether a parameter is filled with the workspace."""
    return any(injection.source == "workspace" for injection in tool.injections)


async def open_workspace(invocation: Invocation) -> None:
    """Open the workspace of the conversation that the call belongs to.

    Raises:
        MissingContext: The conversation's id cannot be used.
    """
    conversation, lasts = _choose(invocation)
    places = invocation.services.resources.workspaces or _PASSING
    opening = partial(places.open, invocation.request.sender.caller.tenant, conversation, lasts=lasts)
    invocation.workspace = await FILES.run_for(key_of(invocation.request.sender.caller), opening)


def _choose(invocation: Invocation) -> tuple[str | None, bool]:
    """Return the workspace key of a call, and whether its files are kept for later calls."""
    request = invocation.request
    for injection in invocation.tool.injections:
        if injection.source == "workspace" and injection.field is not None:
            lasting = find_lasting(request.context, injection.field)
            if lasting is not None:
                return lasting, True
    return find_conversation(request.sender.headers, request.context), False


def require_files(invocation: Invocation) -> None:
    """Refuse a call with an unusable conversation id, before anything is done for it.

    Raises:
        MissingContext: The id cannot be used.
    """
    _choose(invocation)


def list_files(invocation: Invocation) -> None:
    """List files of the conversation as `files` of the artifact: those named in the artifact or the answer."""
    message, workspace = invocation.message, invocation.workspace
    conversation, _ = _choose(invocation)
    if message is None or conversation is None or not isinstance(workspace, Workspace):
        return
    artifact = {} if message.artifact is None else message.artifact
    named = artifact.get("files", []) if isinstance(artifact, dict) else None
    if not isinstance(named, list) or not all(isinstance(path, str) for path in named):
        return  # It has files of its own.
    spellings = [*((path, path.rstrip(".!")) for path in named), *find_spellings(message.content)]
    found = _find_files(workspace, spellings, conversation)
    if found or named:
        message.artifact = {**artifact, "files": found}


def _find_files(workspace: Workspace, spellings: Sequence[Sequence[str]], conversation: str) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    looks = 0
    for spelled in spellings:
        for path in spelled:
            looks += 1
            entry = _look(workspace, path)
            if entry is not None:
                found.setdefault(entry.path, show_file(entry, conversation))
                break
        if len(found) == _MOST_FILES or looks > _MOST_LOOKS:
            break
    return list(found.values())


def _look(workspace: Workspace, path: str) -> "_entries.Entry | None":
    try:
        entry = workspace.look_at(path)
    except WorkspaceError:
        return None
    return None if entry.is_folder else entry


async def note_workspace(invocation: Invocation) -> None:
    """Note in an answer that its workspace is full, or that written files are removed with the call."""
    message, workspace = invocation.message, invocation.workspace
    if message is None or not isinstance(workspace, Workspace):
        return
    note, caller = None, key_of(invocation.request.sender.caller)
    if workspace.is_kept:
        note = await FILES.run_for(caller, _find_fullness, workspace) if workspace.is_uncounted else None
    elif invocation.services.resources.workspaces is not None:
        note = _GONE if await FILES.run_for(caller, _has_files, workspace) else None
    if note is not None:
        message.response_metadata[WORKSPACE] = note


def _find_fullness(workspace: Workspace) -> str | None:
    """Return the note that a workspace is full, and what to do, if a program of the tool has filled it."""
    try:
        workspace.require_room()
    except WorkspaceError as full:
        return full.message
    return None


def _has_files(workspace: Workspace) -> bool:
    try:
        return any(not entry.is_folder for entry in workspace.walk())
    except WorkspaceError:
        return True  # A program has made entries that cannot be read.


async def leave_workspace(invocation: Invocation) -> None:
    """Release the workspace of a call; a temporary one is removed."""
    workspace, invocation.workspace = invocation.workspace, None
    if workspace is not None:
        places = invocation.services.resources.workspaces or _PASSING
        # Files without a conversation are removed.
        pool = FILES if workspace.is_kept else CLEARING
        await pool.run_for(key_of(invocation.request.sender.caller), places.end, workspace)


_PREFIX = "cfile_"


def show_file(entry: Entry, conversation: str, source: str = "assistant") -> dict[str, Any]:
    """Describe a file of a conversation's workspace; `url` is the address of its content."""
    file_id = make_file_id(entry.path)
    return {
        "id": file_id,
        "object": "container.file",
        "container_id": conversation,
        "path": entry.path,
        "bytes": entry.size,
        "created_at": int(entry.modified),
        "source": source,
        "url": f"/workspaces/{quote(conversation, safe='')}/files/{file_id}/content",
    }


def make_file_id(path: str) -> str:
    """Make the id of a file; another file at its path has the same."""
    return _PREFIX + base64.urlsafe_b64encode("/".join(split_path(path)).encode()).decode().rstrip("=")


def read_file_id(file_id: str) -> str | None:
    """Return the path of the file with this id; None for an invalid id."""
    body = file_id.removeprefix(_PREFIX)
    try:
        text = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True).decode()
        parts = split_path(text)
    except (binascii.Error, ValueError, WorkspaceError):
        return None
    path = join_path(parts)
    return path if parts and make_file_id(path) == file_id else None


_ROOT = "/workspace/"
# Characters that names in a sentence do not contain, and where they may end: names may have blanks and brackets too.
_REACH = re.compile(r"[^\n\r\t\"`<>|*?]{1,255}")

_END = re.compile(r"[\s':;,()\[\]{}\\]|$")

_MOST_ENDS = 12
# Characters of an answer that are scanned.
_MOST_TEXT = 100_000


def find_spellings(content: Any) -> Iterator[Sequence[str]]:
    """For each path that begins in an answer, return its possible spellings, longest first."""
    texts = [content] if isinstance(content, str) else [part.get("text") for part in content if isinstance(part, dict)]
    for text in texts:
        if isinstance(text, str):
            for piece in text[:_MOST_TEXT].split(_ROOT)[1:]:
                yield _spell(piece)


def _spell(piece: str) -> Sequence[str]:
    reach = _REACH.match(piece)
    if reach is None:
        return ()
    ends = [found.start() for found in islice(_END.finditer(reach[0]), _MOST_ENDS)]
    paths = [f"{_ROOT}{reach[0][:end]}" for end in reversed(ends) if end]
    # A sentence may end with it.
    return tuple(dict.fromkeys(spelled for path in paths for spelled in (path, path.rstrip(".!"))))


WORKSPACE_STAGES = (
    Stage(Place.OPEN, open_workspace, takes_workspace, require=require_files),
    Stage(Place.COLLECT, list_files, takes_workspace),
    Stage(Place.ANNOTATE, note_workspace, takes_workspace),
    Stage(Place.RELEASE, leave_workspace, takes_workspace),
    Stage(FailurePlace.RELEASE, leave_workspace, takes_workspace),
)
