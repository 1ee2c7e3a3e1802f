"""What a run of Pydantic AI goes on with counts for the question that was shown, and for no other."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai import DeferredToolResults, ModelMessagesTypeAdapter, ToolApproved
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from sidecall.client import AsyncSidecall
from tests.client.conftest import OpenApp
from tests.client.desk import charge, empty, pay_out, refund, send
from tests.client.test_pydantic_ai import DEPS, make_agent, parts, script
from tests.client.twins import make_twin


@pytest.fixture
async def server(open_app: OpenApp) -> AsyncIterator[AsyncSidecall]:
    """A client of a server with tools that ask."""
    twin = make_twin("asynchronous", await open_app(empty, refund, send, pay_out, charge))
    yield twin.client
    await twin.ask("close")


async def stop(server: AsyncSidecall, name: str, **args: Any) -> Any:
    """Run an agent until a person is needed."""
    return await make_agent(server, script([ToolCallPart(name, args, "a")])).run("Please.", deps=DEPS)


async def go_on(server: AsyncSidecall, stopped: Any, decision: Any = True, **results: Any) -> Any:
    """Go on as another process does: with the messages as they were kept, and another toolset."""
    kept = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(stopped.all_messages()))
    return await make_agent(server, script([])).run(
        message_history=kept,
        deferred_tool_results=DeferredToolResults(approvals={"a": decision}, **results),
        deps=DEPS,
    )


def said(stopped: Any) -> Any:
    """Return what is shown of the call that waits."""
    return stopped.output.metadata["a"]["approval"]


def content(result: Any) -> Any:
    """Return what the model reads."""
    return parts(result, ToolReturnPart)[-1].content


async def test_a_second_question_is_deferred_again(server: AsyncSidecall) -> None:
    """Each approval answers the question that was shown."""
    first = await stop(server, "empty", folder="mail")
    second = await go_on(server, first)
    result = await go_on(server, second)

    assert [said(it)["description"] for it in (first, second)] == ["Read it?", "Delete it?"]
    assert said(first)["id"] == said(second)["id"]
    assert (content(result), result.output) == ("mail is empty.", "Done.")


async def test_the_same_messages_twice_answer_one_question(server: AsyncSidecall) -> None:
    """What was shown first says nothing of what is asked now."""
    first = await stop(server, "empty", folder="mail")
    await go_on(server, first)
    again = await go_on(server, first)

    assert said(again)["description"] == "Delete it?"
    assert [it.description for it in await server.approvals.list()] == ["Delete it?"]


async def test_the_same_call_of_another_conversation_is_another_one(server: AsyncSidecall) -> None:
    """Though its id, its tool and its arguments are the same."""
    first, second = await stop(server, "pay_out", amount=5), await stop(server, "pay_out", amount=5)
    results = [await go_on(server, it) for it in (first, second)]

    assert said(first)["id"] != said(second)["id"]
    assert [said(it)["conversation_id"] for it in (first, second)] == [
        it.all_messages()[-1].conversation_id for it in (first, second)
    ]
    assert [content(it) for it in results] == ["Paid 5."] * 2


async def test_a_conversation_that_goes_on_under_another_name_finds_its_call(server: AsyncSidecall) -> None:
    """What was shown says where it waits, however often it is deferred again."""
    first = await stop(server, "empty", folder="mail")
    for message in first.all_messages():
        message.conversation_id = None
    second = await go_on(server, first)
    for message in second.all_messages():
        message.conversation_id = None
    result = await go_on(server, second)

    assert said(first)["id"] == said(second)["id"]
    assert content(result) == "mail is empty."


async def test_a_question_in_the_middle_of_an_approved_call_is_deferred(server: AsyncSidecall) -> None:
    """It waits in the server as well."""
    first = await stop(server, "send", amount=500)
    second = await go_on(server, first)
    waiting = await server.approvals.list()
    result = await go_on(server, second)

    assert (said(second)["description"], [it.id for it in waiting]) == ("Pay the fee?", [said(second)["id"]])
    assert content(result) == "Sent 500: True."


async def test_messages_that_do_not_say_what_was_shown_answer_no_question_of_a_tool(server: AsyncSidecall) -> None:
    """Unless the results bring it along."""
    first = await stop(server, "pay_out", amount=5)
    for message in first.all_messages():
        message.metadata = message.conversation_id = None
    again = await go_on(server, first)
    result = await go_on(server, first, metadata=first.output.metadata)

    assert said(again)["description"] == "The till is nearly empty."
    assert content(result) == "Paid 5."


@pytest.mark.parametrize(
    ("name", "asked", "edited", "expected"),
    [
        ("refund", {"order": 7, "amount": 100}, {"order": 7, "amount": 150}, "Refunded 150 for order 7."),
        ("send", {"amount": 500}, {"amount": 50}, "Sent 50: True."),
    ],
)
async def test_other_arguments_edit_the_call_that_waits(
    server: AsyncSidecall, name: str, asked: Any, edited: Any, expected: str
) -> None:
    """It is one call in the server, which runs once however often the run goes on, also below its policy."""
    first = await stop(server, name, **asked)
    results = [await go_on(server, first, ToolApproved(override_args=edited)) for _ in range(2)]

    (listed,) = await server.approvals.list(None)
    approval = await server.approvals.show(listed.id)
    assert [content(it) for it in results] == [expected] * 2
    assert (approval.document["asked_args"], approval.tool_call["args"]) == (asked, edited)


async def test_other_arguments_that_do_not_fit_are_refused(server: AsyncSidecall) -> None:
    """The call is deferred again, with the reason."""
    first = await stop(server, "refund", order=7)
    second = await go_on(server, first, ToolApproved(override_args={"order": "seven"}))
    result = await go_on(server, second)

    assert "order: Input should be an integer" in second.output.metadata["a"]["refused"]
    assert content(result) == "Refunded 100 for order 7."


async def test_other_arguments_in_the_middle_of_work_are_refused(server: AsyncSidecall) -> None:
    """No second job is begun."""
    first = await stop(server, "empty", folder="mail")
    second = await go_on(server, first, ToolApproved(override_args={"folder": "news"}))

    assert second.output.metadata["a"]["refused"].startswith("The tool has asked in the middle of its work")
    assert [it.tool_call["args"] for it in await server.approvals.list(None)] == [{"folder": "mail"}]


async def test_other_arguments_of_a_call_that_waits_no_more_are_a_call(server: AsyncSidecall) -> None:
    """What the model wrote does not run in their place."""
    first = await stop(server, "send", amount=500)
    for message in first.all_messages():
        message.metadata = {"sidecall/shown": {"a": {"args": {"amount": 20}, "approval": None}}}
    result = await go_on(server, first, ToolApproved(override_args={"amount": 10}))

    assert content(result) == "Sent 10: True."
    assert await server.approvals.list(None) == []


async def test_an_id_that_is_used_again_is_an_error_that_the_model_reads(server: AsyncSidecall) -> None:
    """As in a batch."""
    calls = [[ToolCallPart("charge", {"amount": amount}, "charge:0")] for amount in (1, 2)]
    result = await make_agent(server, script(*calls)).run("Please.", deps=DEPS)
    here = {"conversation_id": result.all_messages()[-1].conversation_id}
    (batched,) = await server.batch([{"name": "charge", "args": {"amount": 2}, "id": "charge:0"}], context=here)

    first, second = parts(result, ToolReturnPart)
    assert (first.content, result.output) == ("Charged 1.", "Done.")
    assert (second.outcome, second.content) == ("failed", batched.content)
