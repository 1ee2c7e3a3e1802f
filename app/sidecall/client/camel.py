"""A server's tools as tools of CAMEL: `ChatAgent(tools=load_tools(server))`."""

from collections.abc import Mapping
from typing import Any, Unpack

from camel.toolkits import FunctionTool
from camel.utils.tool_result import ToolResult

from sidecall.client import remote
from sidecall.client.adapters import AnswerText, name_arguments, read_text
from sidecall.client.answers import ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool
from sidecall.client.runs import RunOptions, check_run_options, read_run


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[FunctionTool]:
    """Return the server's tools, for agents.

    The `result` of a ToolCallingRecord is a text, or one with images, whose `answer` has the artifact. CAMEL tells a
    tool neither the id of the model's call nor for whom it runs: give `state`, `context` and `conversation` here, as
    values or as functions of the tool. A call that fails raises; one that waits for a person is a text for the model,
    unless `ask` or `approvals` say otherwise.
    """
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in remote.load_tools(server, filters=filters)]


class AnswerWithImages(ToolResult):
    """An answer with images, which the agent shows to the model, and the answer itself."""

    answer: ToolAnswer


class ServerTool(FunctionTool):
    """A tool that runs in a server."""

    def __init__(self, tool: RemoteTool, options: RunOptions) -> None:
        self.remote = tool
        self._options = options
        super().__init__(_name_function(self, tool.name), openai_tool_schema=_write_schema(tool))

    def __call__(self, /, *values: Any, **written: Any) -> AnswerText | AnswerWithImages:
        """Run the tool.

        Raises:
            ToolFailed: The call failed; the model reads why.
        """
        args = name_arguments(self.remote.parameters, values, written)
        return _read(self.remote.call(args, **read_run(self._options, self)))

    async def async_call(self, /, *values: Any, **written: Any) -> AnswerText | AnswerWithImages:
        """Run the tool, on an event loop."""
        args = name_arguments(self.remote.parameters, values, written)
        return _read(await self.remote.acall(args, **read_run(self._options, self)))


def _name_function(tool: ServerTool, name: str) -> Any:
    """Return the function that CAMEL looks at, under the name of the server's tool."""

    def run(**written: Any) -> Any:
        return tool(**written)

    run.__name__ = name
    return run


def _write_schema(tool: RemoteTool) -> Mapping[str, Any]:
    # Not strict: CAMEL's own strict form has no defaults.
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _read(answer: ToolAnswer) -> AnswerText | AnswerWithImages:
    text = read_text(answer)
    blocks = read_blocks(answer.content)
    images = [it.address for it in blocks if isinstance(it, MediaBlock) and it.kind == "image" and it.data]
    if not images:
        return text
    shown = AnswerWithImages(str(text), images)
    shown.answer = answer
    return shown
