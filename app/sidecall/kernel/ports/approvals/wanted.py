"""Exceptions of a running tool that wants to make a call which needs approval."""

from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.messages import ToolCall


class ApprovalWanted(SidecallError):
    """A tool that runs wants a person to approve a call which it is about to make itself."""

    def __init__(self, tool_call: ToolCall) -> None:
        super().__init__(f"{tool_call.name} has to be approved by a person.")
        self.tool_call = tool_call
