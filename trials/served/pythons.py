"""A tool that does nothing, and one that runs Python for a second at most."""

from sidecall import PythonSandbox, Workspace, tool


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@tool(timeout=20)
async def run_for_a_second(code: str, workspace: Workspace, sandbox: PythonSandbox) -> str:
    """Run Python."""
    end = await sandbox.run_python(code, workspace.directory, 1.0)
    return f"{end.value} {end.error}"
