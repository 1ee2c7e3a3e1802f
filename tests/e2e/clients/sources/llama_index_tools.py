"""Tools as LlamaIndex's pages have them: sums, a tool spec of mails, a picture."""

from typing import Any, ClassVar

from llama_index.core.llms import ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from llama_index.core.workflow import Context

from sidecall import tool


def multiply_by(a: int, b: int = 2) -> int:
    """Multiply two integers."""
    if a < 0:
        raise ValueError("a is not negative here")
    return a * b


async def query_rows(query: str, limit: int = 2) -> list[dict[str, Any]]:
    """Find rows."""
    return [{"query": query, "row": number} for number in range(limit)]


class MailSpec(BaseToolSpec):
    """Mails."""

    spec_functions: ClassVar[Any] = ["load_mails", ("send_mail", "asend_mail")]

    def load_mails(self, folder: str) -> str:
        """Load the mails of a folder."""
        return f"no mails in {folder}"

    def send_mail(self, to: str) -> str:
        """Send a mail."""
        return f"sent to {to}"

    async def asend_mail(self, to: str) -> str:
        """Send a mail."""
        return f"sent later to {to}"


def make_picture(title: str) -> list[Any]:
    """Make a picture."""
    return [TextBlock(text=title), ImageBlock(image=b"\x89PNG\r\n\x1a\n", image_mimetype="image/png")]


async def remember(text: str, ctx: Context) -> str:
    """Remember a text in a workflow."""
    return text


multiply_tool = FunctionTool.from_defaults(multiply_by, return_direct=True)
llama_tools = [FunctionTool.from_defaults(query_rows), FunctionTool.from_defaults(make_picture)]
mails = MailSpec()
remember_tool = FunctionTool.from_defaults(remember)


@tool
async def llama_index_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask LlamaIndex itself."""
    known = {it.metadata.get_name(): it for it in (multiply_tool, *llama_tools, *mails.to_tool_list())}
    return (await known[name].acall(**args)).content
