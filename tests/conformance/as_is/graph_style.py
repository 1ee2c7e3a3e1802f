"""Tools that ask a running graph for things, as LangGraph's documents write them."""

from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool, tool
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.runtime import get_runtime
from langgraph.types import interrupt
from pydantic import BaseModel


@dataclass
class Context:
    """What the program says of its user."""

    user_id: str
    plan: str = "free"


@tool
def get_weather(city: str) -> str:
    """Get the weather for a city."""
    writer = get_stream_writer()
    writer(f"Looking up data for city: {city}")
    writer({"progress": 1, "of": 2})
    return f"It's always sunny in {city}!"


@tool
async def get_weather_async(city: str) -> str:
    """Get the weather for a city, in no hurry."""
    get_stream_writer()(f"Asking {city}")
    return f"Rain in {city}"


@tool
def save_user_info(key: str, value: int) -> str:
    """Save what is known of the user."""
    store = get_store()
    runtime = get_runtime(Context)
    store.put(("users", runtime.context.user_id), key, {"value": value})
    return str([it.value for it in store.search(("users", runtime.context.user_id))])


@tool
async def save_user_info_async(key: str, value: int) -> str:
    """Save what is known of the user, too."""
    store = get_store()
    await store.aput(("users",), key, {"value": value})
    found = await store.aget(("users",), key)
    return str(found and found.value)


@tool
def whoami() -> str:
    """Say who calls."""
    runtime = get_runtime(Context)
    return f"{runtime.context.user_id} {runtime.context.plan} {runtime.store is not None} {runtime.previous}"


@tool
def which_thread() -> str:
    """Say which conversation this is."""
    info = get_runtime().execution_info
    return f"{get_config()['configurable']['thread_id']} {info and info.thread_id}"


@tool
def human_assistance(query: str) -> str:
    """Request assistance from a human."""
    human_response: dict[str, str] = interrupt({"query": query})
    return human_response["data"]


@tool
def send_email(to: str, subject: str) -> str:
    """Send an email to a recipient."""
    response = interrupt({"action": "send_email", "to": to, "subject": subject, "message": "Approve sending this?"})
    if response.get("action") == "approve":
        return f"Email sent to {response.get('to', to)} with subject '{response.get('subject', subject)}'"
    return "Email cancelled by user"


@tool
def book_hotel(hotel_name: str) -> str:
    """Book a hotel."""
    if not interrupt(f"Really book {hotel_name}?"):
        return "Not booked."
    return f"Successfully booked a stay at {hotel_name}."


@tool
async def ask_age(name: str) -> str:
    """Ask how old somebody is, until they say it."""
    question = f"How old is {name}?"
    while True:
        answer = interrupt(question)
        if isinstance(answer, int) and answer > 0:
            return f"{name} is {answer} years old."
        question = f"{answer!r} is no age. How old is {name}?"


class Address(BaseModel):
    """Where to."""

    street: str
    number: int


@tool
def ship(order: str) -> str:
    """Ship an order."""
    address = interrupt("Where to?", response_schema=Address)
    return f"{order} to {address.street} {address.number}"


class Pay(BaseTool):
    """Pay, as a class."""

    name: str = "pay"
    description: str = "Pay somebody."

    def _run(self, to: str, amount: int = 1, **kwargs: Any) -> str:
        return self._decide(f"{amount} to {to}", kwargs)

    def _decide(self, what: str, more: dict[str, Any]) -> str:
        return f"{what}: {interrupt({'pay': what, **more})}"


pay = Pay()
