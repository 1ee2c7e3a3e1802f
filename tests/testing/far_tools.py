"""Tools that run elsewhere, and of another library, for tests of ToolTester."""

import os
import threading

from langchain_core.tools import BaseTool, tool

import sidecall


@sidecall.tool(executor="process")
def in_process(parent: int, context: sidecall.ToolContext) -> bool:
    """Say whether this is another process."""
    context.report_progress(1, message="there")
    return os.getpid() != parent


@sidecall.tool(executor="thread", timeout=0.05)
def block(seconds: float) -> str:
    """Block a thread."""
    threading.Event().wait(seconds)
    return "late"


class Upper(BaseTool):
    """A class of LangChain's."""

    name: str = "upper"
    description: str = "Make a text loud."
    handle_tool_error: bool = True

    def _run(self, text: str) -> str:
        return text.upper()


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[int]]:
    """Search."""
    return f"a hit for {query}", [1]
