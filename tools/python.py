"""Run the Python of models: in an interpreter that has no system beneath it, or in a sandbox with libraries."""

import base64
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from sidecall import PythonSandbox, ToolAnnotations, Workspace, WorkspaceError, tool
from sidecall.kernel.concurrency.pools import FILES

SECONDS = 30.0
MOST_FILES = 100
MOST_IMAGES = 4
MOST_IMAGE_BYTES = 1_000_000


@tool(
    response_format="content_and_artifact",
    timeout=SECONDS + 10,
    tags=["code"],
    annotations=ToolAnnotations(read_only=False),
    extras={"replaces": "code_interpreter"},
)
async def run_python(
    code: Annotated[str, Field(min_length=1, max_length=200_000)], *, workspace: Workspace, sandbox: PythonSandbox
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run Python for calculations and for files in /workspace; there is no network.

    The answer has what the code prints, the value of its last line where that is an expression, the error that ended
    it, and the files that it wrote. It is stopped after 30 seconds, sleeps included: collect text and write a file once
    rather than in many thousand steps. The middle of long output is left out. Where `lost` is in the answer, names that
    earlier code has set are gone.

    Args:
        code: What to run.
    """
    # In a thread, since code may leave many files behind.
    before = await FILES.run(find_room, workspace)
    end = await sandbox.run_python(code, workspace.directory, SECONDS)
    files, images = await FILES.run(find_written, workspace, before)
    answer = {"stdout": end.stdout, "value": end.value, "error": end.error, "files": files}
    if end.lost is not None:
        answer["lost"] = end.lost
    logs = "\n".join(text for text in (end.stdout, end.value, end.error) if text)
    # As the items of OpenAI's code interpreter have them.
    outputs = [*([{"type": "logs", "logs": logs}] if logs else []), *images]
    return answer, {"files": files, "outputs": outputs}


def find_room(workspace: Workspace) -> dict[str, tuple[float, int]]:
    """Return what is there before code runs; refuse to run any where the workspace is full."""
    workspace.require_room()
    return look_over(workspace)


def find_written(workspace: Workspace, before: dict[str, tuple[float, int]]) -> tuple[list[str], list[dict[str, str]]]:
    """Return the files that are others than before, and those of them that are images."""
    files = [path for path, state in look_over(workspace).items() if before.get(path) != state][:MOST_FILES]
    return files, list(find_images(workspace, files))


def look_over(workspace: Workspace) -> dict[str, tuple[float, int]]:
    """Return when each file was changed, and how large it is."""
    return {entry.path: (entry.modified, entry.size) for entry in workspace.walk() if not entry.is_folder}


def find_images(workspace: Workspace, files: list[str]) -> Iterator[dict[str, str]]:
    """Yield those of the files that are images, and small enough to be sent along."""
    images = [path for path in files if path.lower().endswith(".png")]
    for path in images[:MOST_IMAGES]:
        try:
            body = workspace.read_bytes(path, limit=MOST_IMAGE_BYTES + 1)
        except WorkspaceError:
            continue
        if len(body) <= MOST_IMAGE_BYTES:
            yield {"type": "image", "url": f"data:image/png;base64,{base64.b64encode(body).decode()}"}
