"""Tools of a support desk, as a team that knows LangChain's reference well writes them."""

import asyncio
import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, Type, Union
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator


class Priority(str, Enum):
    LOW = "low"
    HIGH = "high"


class TicketInput(BaseModel):
    """Input of the ticket tool."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    title: str = Field(..., min_length=3, max_length=40, description="What it is about")
    priority: Priority = Priority.LOW
    labels: List[str] = Field(default_factory=list, description="Labels")
    due: Optional[date] = None

    @field_validator("labels")
    @classmethod
    def lower(cls, labels: List[str]) -> List[str]:
        return [label.lower() for label in labels]

    @model_validator(mode="after")
    def high_needs_due(self) -> "TicketInput":
        if self.priority is Priority.HIGH and self.due is None:
            raise ValueError("a ticket of high priority needs a due date")
        return self


class TicketTool(BaseTool):
    """Keep tickets, in a class with its own settings and a counter."""

    name: str = "open_ticket"
    description: str = "Open a ticket."
    args_schema: Type[BaseModel] = TicketInput
    queue: str
    limit: int = Field(default=3, ge=1)
    _count: int = PrivateAttr(default=0)

    def _run(
        self,
        title: str,
        priority: Priority = Priority.LOW,
        labels: Optional[List[str]] = None,
        due: Optional[date] = None,
        run_manager: Optional[CallbackManagerForToolRun] = None,
    ) -> str:
        if run_manager:
            run_manager.on_text(f"opening {title}")
        return f"[{self.queue}] {title} ({priority.value}) {labels} {due.isoformat() if due else '-'} {self._count}"

    async def _arun(
        self,
        title: str,
        priority: Priority = Priority.LOW,
        labels: Optional[List[str]] = None,
        due: Optional[date] = None,
        run_manager: Optional[AsyncCallbackManagerForToolRun] = None,
    ) -> str:
        await asyncio.sleep(0)
        if run_manager:
            await run_manager.on_text(f"opening {title}")
        return self._run(title, priority, labels, due)


class RefundInput(BaseModel):
    order_id: UUID = Field(description="The order")
    amount: Decimal = Field(gt=0, decimal_places=2, description="How much")
    reason: Literal["damaged", "late"] = "late"


def explain_refund(error: ToolException) -> str:
    return f"Refund refused: {error.args[0]}. Ask a colleague."


def _refund(order_id: UUID, amount: Decimal, reason: str = "late") -> Dict[str, Any]:
    """Pay money back."""
    if amount > 100:
        raise ToolException(f"{amount} is above the limit", {"limit": 100})
    return {"order": str(order_id)[:8], "amount": float(amount), "reason": reason}


refund = StructuredTool.from_function(
    func=_refund,
    name="refund",
    description="Pay money back to a customer.",
    args_schema=RefundInput,
    handle_tool_error=explain_refund,
    handle_validation_error=lambda error: f"Wrong input: {len(error.errors())} problem(s)",
    tags=["money"],
    metadata={"owner": "billing"},
)


@tool("find_customer", args_schema={
    "title": "find_customer",
    "description": "Find a customer by one of their marks.",
    "type": "object",
    "properties": {
        "by": {"type": "string", "enum": ["email", "phone"], "description": "Which mark"},
        "value": {"type": "string"},
        "fuzzy": {"type": "boolean"},
    },
    "required": ["by", "value"],
})
def find_customer(by: str, value: str, fuzzy: bool = False) -> List[Dict[str, str]]:
    return [{"by": by, "value": value, "fuzzy": str(fuzzy)}]


@tool(parse_docstring=True)
def book(
    customer: str,
    day: date,
    slots: List[Tuple[int, int]],
    *,
    length: timedelta = timedelta(minutes=30),
    user_id: Annotated[str, InjectedToolArg],
) -> str:
    """Book a call with a customer.

    Args:
        customer: Whom to call.
        day: The day of the call.
        slots: From and to, as hours.
        length: How long it takes.
        user_id: Who books.
    """
    return f"{user_id} calls {customer} on {day:%d.%m.} at {slots[0][0]} for {length.total_seconds():g}s"


@tool
def cart_total(items: Annotated[List[str], "what to add up"], state: Annotated[dict, InjectedState]) -> str:
    """Add up the cart of the user."""
    prices = state.get("user_preferences", {})
    return f"{len(items)} items for {state['user']} in {prices['theme']} with {len(state['messages'])} messages"


@tool
async def note(
    text: str,
    store: Annotated[BaseStore, InjectedStore()],
    user: Annotated[str, InjectedState("user")],
    tool_call_id: Annotated[str, InjectedToolCallId],
    importance: int = Field(1, ge=1, le=5, description="From one to five"),
) -> str:
    """Note something down for later."""
    await store.aput(("notes", user), tool_call_id, {"text": text, "importance": importance})
    found = await store.asearch(("notes", user))
    return json.dumps([[item.key, item.value] for item in found])


@tool
def hand_over(to: Literal["sales", "billing"], why: str, runtime: ToolRuntime) -> Command:
    """Hand the conversation over."""
    last = runtime.state["messages"][0].content
    return Command(
        goto=to,
        graph=Command.PARENT,
        update={
            "active": to,
            "messages": [
                ToolMessage(content=f"handed over to {to}: {why} ({last})", tool_call_id=runtime.tool_call_id),
                HumanMessage(content=f"<handover>{why}</handover>"),
            ],
        },
    )


@tool(response_format="content_and_artifact", return_direct=True)
def screenshot(page: int = 1) -> Tuple[List[Union[str, Dict[str, Any]]], bytes]:
    """Show a page."""
    if page < 1:
        raise ValueError("pages start at 1")
    picture = {"type": "image_url", "image_url": {"url": f"https://example.org/{page}.png"}}
    return [{"type": "text", "text": f"page {page}"}, picture], b"png"


class Flaky(BaseTool):
    """Try again by itself, and give up with words."""

    name: str = "flaky"
    description: str = "Try something that fails now and then."
    max_retries: int = 2
    handle_tool_error: Union[bool, str, None] = "Gave up; try something else."

    def _run(self, fails: int, config: RunnableConfig) -> Dict[str, Any]:
        for attempt in range(self.max_retries + 1):
            if attempt >= fails:
                return {"attempt": attempt, "who": config["configurable"]["who"]}
        raise ToolException("still failing")


@tool
def convert_time(when: datetime, to: Annotated[str, Field(pattern=r"^[+-]\d\d:\d\d$")] = "+00:00") -> datetime:
    """Convert a time."""
    hours, minutes = int(to[1:3]), int(to[4:])
    return when + timedelta(hours=hours, minutes=minutes) * (1 if to[0] == "+" else -1)


@tool
def double(n: int) -> int:
    """Double a number."""
    return n * 2


@tool
def quadruple(numbers: List[int]) -> str:
    """Double numbers twice."""
    return " ".join(str(double.invoke({"n": it})) for it in double.batch([{"n": n} for n in numbers]))


open_ticket = TicketTool(queue="desk", limit=5)
flaky = Flaky(max_retries=1)
book.handle_tool_error = True
