"""A tool is offered by the caller, or by the context of the call, no matter which its author asks for."""

from dataclasses import dataclass
from typing import Any

import pytest

from sidecall import AgentBase, Caller, RunContextWrapper, ToolContext, function_tool
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient


@dataclass
class Language:
    """What the program knows."""

    preferred: str


def french(ctx: RunContextWrapper[Language], agent: AgentBase) -> bool:
    """Enable for some, as the SDK's documentation does."""
    return ctx.context.preferred == "french" and agent is None


class Switch:
    """An object that is called."""

    def __call__(self, ctx: ToolContext, agent: Any = None) -> bool:
        """Enable for some."""
        return ctx.context.get("preferred") == "french" and agent is None


async def only_context(ctx: ToolContext[Language]) -> bool:
    """Enable for some."""
    return ctx.context.preferred == "french"


def by_caller(caller: Caller, tenant: str = "french") -> bool:
    """Enable for all."""
    return isinstance(caller, Caller) and tenant == "french"


def _offer(is_enabled: Any) -> Any:
    @function_tool(is_enabled=is_enabled)
    async def bonjour() -> str:
        """Greet."""
        return "Bonjour"

    return bonjour


FRENCH = {"X-Sidecall-Context": '{"preferred": "french"}'}
GERMAN = {"X-Sidecall-Context": '{"preferred": "german"}'}


@pytest.mark.parametrize(
    "is_enabled", [french, Switch(), only_context, lambda ctx, _: ctx.context == {"preferred": "french"}]
)
async def test_a_switch_sees_the_context(make_client: MakeClient, is_enabled: Any) -> None:
    """Of the call, and in listings what the header says."""
    client = await make_client(_offer(is_enabled))

    shown = [len((await client.get("/tools", headers=it)).json()) for it in (FRENCH, GERMAN, {})]
    detail = [(await client.get("/tools/bonjour", headers=it)).status_code for it in (FRENCH, GERMAN)]
    answers = [
        (await client.post("/tool_calls", json={**write_call("bonjour"), "context": {"preferred": it}})).json()
        for it in ("french", "german")
    ]

    assert (shown, detail) == ([1, 0, 0], [200, 404])
    assert [it["content"][:7] for it in answers] == ["Bonjour", "Error: "]


async def test_a_switch_of_the_caller_is_given_the_caller(make_client: MakeClient) -> None:
    """Although it could take two arguments."""
    client = await make_client(_offer(by_caller))

    assert len((await client.get("/tools")).json()) == 1


async def test_a_call_without_the_context_that_a_switch_wants_is_the_programs_error(make_client: MakeClient) -> None:
    """The model could not mend it."""
    client = await make_client(_offer(french))

    answer = await client.post("/tool_calls", json=write_call("bonjour"))

    assert (answer.status_code, answer.json()["detail"]) == (422, "The tool needs `context.preferred` beside the call.")


@pytest.mark.parametrize("text", ["{", "[]", "1", '{"a": NaN}', '{"a": "' + "x" * 8192 + '"}'], ids=lambda it: it[:9])
@pytest.mark.parametrize("is_enabled", [True, french])
async def test_a_header_that_is_no_context_is_refused(make_client: MakeClient, text: str, is_enabled: Any) -> None:
    """Also where the listing is known already."""
    client = await make_client(_offer(is_enabled))
    await client.get("/tools")

    answer = await client.get("/tools", headers={"X-Sidecall-Context": text})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["header", "X-Sidecall-Context"]


async def test_a_context_may_have_any_letters(make_client: MakeClient) -> None:
    """In UTF-8."""
    client = await make_client(_offer(lambda ctx, _: ctx.context == {"name": "Zoë"}))
    headers = [(b"X-Sidecall-Context", '{"name": "Zoë"}'.encode())]

    assert len((await client.get("/tools", headers=headers)).json()) == 1
