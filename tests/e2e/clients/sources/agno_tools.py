"""Tools of agno: its own calculator, and as its pages have them."""

from collections.abc import Iterator
from typing import Any

from agno.run import RunContext
from agno.tools import Toolkit, tool
from agno.tools.calculator import CalculatorTools
from agno.tools.function import Function, FunctionCall

from sidecall import tool as sidecall_tool

calculator = CalculatorTools(include_tools=["add", "divide"])


@tool(stop_after_tool_call=True)
async def find_stories(topic: str, limit: int = 2) -> str:
    """Find stories about a topic.

    Args:
        topic: What they are about.
        limit: How many.
    """
    if limit < 0:
        raise ValueError("a limit is not negative")
    return ", ".join(f"{topic} {number}" for number in range(limit))


class Cart(Toolkit):
    """A cart in the session's state."""

    def __init__(self) -> None:
        super().__init__(name="cart", tools=[self.add_item, self.list_items])

    def add_item(self, run_context: RunContext, item: str) -> str:
        """Put an item into the cart."""
        run_context.session_state.setdefault("cart", []).append(item)
        return f"added {item}"

    def list_items(self, prefix: str = "") -> Iterator[str]:
        """List what may be bought."""
        yield from (f"{prefix}{it};" for it in ("tea", "rice"))


cart = Cart()
# Offered once, though it has a name of its own.
stories = Toolkit(name="stories", tools=[find_stories])


@tool(requires_confirmation=True)
def transfer(amount: int) -> str:
    """Send money."""
    return f"sent {amount}"


@sidecall_tool
async def agno_itself(name: str, args: dict[str, Any], state: dict[str, Any]) -> Any:
    """Ask agno itself."""
    known: dict[str, Function] = {**calculator.functions, **cart.functions, find_stories.name: find_stories}
    function = known[name].model_copy()
    function.process_entrypoint()
    function._run_context = RunContext(run_id="r", session_id="s", session_state=state)
    outcome = await FunctionCall(function=function, arguments=args, call_id="c1").aexecute()
    if outcome.error:
        raise RuntimeError(outcome.error)
    return outcome.result if isinstance(outcome.result, str) else "".join(outcome.result)
