"""Read, write, edit, patch, search and remember files of the conversation's workspace."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from sidecall import InjectedWorkspace, ToolAnnotations, ToolException, Workspace, tool
from sidecall.features.file_tools.editing.editor import (
    commit_plan,
    create_file,
    hold_workspace,
    put_lines,
    replace_passage,
    view_path,
)
from sidecall.features.file_tools.editing.memory import Memory, locate_deletable
from sidecall.features.file_tools.editing.reading import MOST_EDITED, read_whole, replace_every
from sidecall.features.file_tools.patching.applying import describe_plan, plan_patches
from sidecall.features.file_tools.patching.parsing import FilePatch, deletes_files, read_envelope, read_operation
from sidecall.features.workspaces.paths import join_path, split_path
from sidecall.kernel.concurrency.pools import FILES
from sidecall.native import PatchResult

from .files_read_only import Range, glob, grep, ls, read

__all__ = [
    "apply_patch",
    "edit",
    "glob",
    "grep",
    "ls",
    "memory",
    "read",
    "str_replace_based_edit_tool",
    "write",
]

T = TypeVar("T")

#: Characters of a patch above which it is read in a thread, since others would wait for it.
LONG = 50_000
WRITING = ToolAnnotations(read_only=False, destructive=True, idempotent=True)
CHANGING = ToolAnnotations(read_only=False, destructive=True, idempotent=False)


@tool(tags=["files"], annotations=WRITING)
def write(file_path: str, content: str, *, workspace: Workspace) -> str:
    """Write a whole file, in the place of one that is there; folders on the way are made.

    Args:
        file_path: The file, such as src/app.py.
        content: All that it is to hold.
    """
    body = content.encode()
    with hold_workspace(workspace):
        workspace.write_bytes(file_path, body)
    return f"wrote {len(body)} bytes to {file_path}"


@tool(tags=["files"], annotations=CHANGING)
def edit(
    file_path: str, old_string: str, new_string: str, replace_all: bool = False, *, workspace: Workspace
) -> str:  # fmt: skip
    """Replace a text in a file by another one.

    Args:
        file_path: The file, such as src/app.py.
        old_string: What to replace, exactly as it stands in the file, and only once unless all are meant.
        new_string: What to put in its place.
        replace_all: Whether to replace it wherever it stands.
    """
    with hold_workspace(workspace):
        text = read_whole(workspace, file_path, MOST_EDITED)
        new, count = replace_every(text, file_path, old_string, new_string, only_one=not replace_all)
        workspace.write_bytes(file_path, new.encode())
    return f"edited {file_path} ({count} replacement(s))"


async def _asks_to_patch(args: Mapping[str, Any]) -> bool:
    """Return whether a patch deletes a file and so needs approval; a patch that will be refused does not."""
    is_long = len(args.get("input") or "") > LONG
    return await FILES.run(_deletes, args) if is_long else _deletes(args)


def _deletes(args: Mapping[str, Any]) -> bool:
    if args.get("type") != "delete_file" and not deletes_files(args.get("input") or ""):
        return False
    try:
        patches = _read_patches(*(args.get(name) for name in ("type", "path", "diff", "input")))
    except ToolException:
        return False
    return any(it.kind == "delete" for it in patches)


def _asks_to_forget(args: Mapping[str, Any]) -> bool:
    """Return whether a file is to be deleted and so needs approval; a path that will be refused does not."""
    if args["command"] != "delete" or args.get("path") is None:
        return False
    try:
        locate_deletable(args["path"])
    except ToolException:
        return False
    return True


@tool(native="apply_patch", tags=["files"], annotations=CHANGING, requires_approval=_asks_to_patch)
def apply_patch(
    type: Literal["create_file", "update_file", "delete_file"] | None = None,
    path: str | None = None,
    diff: str | None = None,
    input: str | None = None,
    *,
    workspace: Workspace,
) -> PatchResult:
    """Apply a patch to a file by `type`, `path` and `diff`, or one to several files by `input`.

    A diff has hunks that begin with `@@`, or with `@@ ` and a line above the place, such as `@@ def main():`. Each of
    their lines begins with a space (context), `-` (removed) or `+` (added). All lines of a new file begin with `+`.

    Args:
        type: What to do with the file.
        path: The file.
        diff: The diff; none where the file is deleted.
        input: A whole patch, from `*** Begin Patch` to `*** End Patch`, with `*** Add File: path`,
            `*** Update File: path` (below it, where it moves, `*** Move to: path`) and `*** Delete File: path`.
    """
    named = _read_patches(type, path, diff, input)
    with hold_workspace(workspace):
        planned = plan_patches(named, lambda name: _read_there(workspace, name))
        commit_plan(workspace, planned)
    return PatchResult(completed=True, output=describe_plan(planned))


def _read_patches(kind: str | None, path: str | None, diff: str | None, envelope: str | None) -> list[FilePatch]:
    if envelope is not None:
        patches = read_envelope(envelope)
    elif kind is not None:
        patches = [read_operation(kind, _require("path", kind, path), diff or "")]
    else:
        raise ToolException("Send `type` and `path`, with `diff`, for one file, or `input` with a whole patch.")
    return [replace(it, path=_name(it.path), move_to=it.move_to and _name(it.move_to)) for it in patches]


def _name(path: str) -> str:
    """Normalize a path, so that a file is recognized."""
    return join_path(split_path(path))


def _read_there(workspace: Workspace, path: str) -> str | None:
    return read_whole(workspace, path, MOST_EDITED) if workspace.is_there(path) else None


@tool(native="text_editor", tags=["files"], annotations=CHANGING)
def str_replace_based_edit_tool(
    command: Literal["view", "create", "str_replace", "insert"],
    path: str,
    view_range: Range = None,
    file_text: str | None = None,
    old_str: str | None = None,
    new_str: str | None = None,
    insert_line: int | None = None,
    insert_text: str | None = None,
    *,
    workspace: Workspace,
) -> str:
    """View, create and edit text files.

    Args:
        command: `view` shows a file with line numbers, or a folder; `create` writes a new file; `str_replace` replaces
            a text that stands in the file once; `insert` inserts lines.
        path: The file or folder.
        view_range: For `view`: the first and the last line to show; -1 as the last one means to the end.
        file_text: For `create`: what the file is to hold.
        old_str: For `str_replace`: the text to replace, exactly as it stands in the file.
        new_str: For `str_replace`: what to put in its place; nothing removes it.
        insert_line: For `insert`: the line below which to insert, 0 for the top.
        insert_text: For `insert`: the lines.
    """
    if command == "view":
        return view_path(workspace, path, view_range)
    if command == "create":
        return create_file(workspace, path, _require("file_text", command, file_text))
    if command == "str_replace":
        return replace_passage(workspace, path, _require("old_str", command, old_str), new_str or "")
    inserted = new_str if insert_text is None else insert_text
    return put_lines(
        workspace, path, _require("insert_line", command, insert_line), _require("insert_text", command, inserted)
    )


@tool(
    native="memory",
    tags=["files"],
    annotations=CHANGING,
    requires_approval=_asks_to_forget,
)
def memory(
    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"],
    path: str | None = None,
    view_range: Range = None,
    file_text: str | None = None,
    old_str: str | None = None,
    new_str: str | None = None,
    insert_line: int | None = None,
    insert_text: str | None = None,
    old_path: str | None = None,
    new_path: str | None = None,
    *,
    workspace: Annotated[Workspace, InjectedWorkspace(lasting="memory_id")],
) -> str:
    """Remember things in files under /memories, and look them up again.

    Args:
        command: `view` shows a file or a folder; `create` writes a new file; `str_replace` replaces a text that stands
            in a file once; `insert` inserts lines; `delete` deletes a file or folder; `rename` gives it another path.
        path: The file or folder, such as /memories/notes.md; for all commands but `rename`.
        view_range: For `view`: the first and the last line to show.
        file_text: For `create`: what the file is to hold.
        old_str: For `str_replace`: the text to replace.
        new_str: For `str_replace`: what to put in its place.
        insert_line: For `insert`: the line below which to insert, 0 for the top.
        insert_text: For `insert`: the lines.
        old_path: For `rename`: the path that it has.
        new_path: For `rename`: the path that it gets.
    """
    files = Memory(workspace)
    if command == "rename":
        return files.rename(_require("old_path", command, old_path), _require("new_path", command, new_path))
    place = _require("path", command, path)
    if command == "view":
        return files.view(place, view_range)
    if command == "create":
        return files.create(place, _require("file_text", command, file_text))
    if command == "str_replace":
        return files.replace(place, _require("old_str", command, old_str), new_str or "")
    if command == "delete":
        return files.delete(place)
    inserted = new_str if insert_text is None else insert_text
    return files.insert(
        place, _require("insert_line", command, insert_line), _require("insert_text", command, inserted)
    )


def _require(name: str, command: str, value: T | None) -> T:
    if value is None:
        raise ToolException(f"Parameter `{name}` is required for command: {command}")
    return value
