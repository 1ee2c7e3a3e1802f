"""As many tools as the variable BENCH_TOOLS says, to see whether their number has a cost."""

import os

from sidecall import BaseTool, BaseToolkit, StructuredTool


async def _echo(text: str) -> str:
    return text


class Many(BaseToolkit):
    """Tools that differ in their names only."""

    count: int

    def get_tools(self) -> list[BaseTool]:
        """Make them."""
        return [
            StructuredTool.from_function(
                coroutine=_echo, name=f"echo_{number:04}", description=f"Return the text unchanged ({number})."
            )
            for number in range(self.count)
        ]


many = Many(count=int(os.environ.get("BENCH_TOOLS", "10")))
