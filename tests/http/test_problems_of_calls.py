"""What a call comes to that is not for the model is a problem for the calling program."""

from uuid import UUID

from sidecall import ToolException, ToolGuardrailFunctionOutput, tool
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem


@tool(handle_tool_error=None)
async def fail(how: str) -> None:
    """Fail, and let the calling program know.

    Args:
        how: The words.
    """
    raise ToolException(how.replace("half a", "\ud83d"), retryable=True)


@tool(tool_input_guardrails=[lambda _: ToolGuardrailFunctionOutput.raise_exception({"rule": 7})])
async def guarded() -> None:
    """Never run."""


@tool(requires_approval=True)
async def ask(number: int) -> None:
    """Wait for a person.

    Args:
        number: Of the call.
    """


async def test_a_failure_that_goes_through_says_of_which_call(make_client: MakeClient) -> None:
    """The calling program can find it in the log, and knows whether to try again."""
    client = await make_client(fail)

    response = await client.post("/tool_calls", json={"name": "fail", "args": {"how": "Busy."}, "id": "call_1"})
    problem = response.json()

    assert UUID(problem["invocation_id"]).version == 7
    assert problem["detail"] == "Busy."
    assert (problem["kind"], problem["retryable"], problem["tool"], problem["call_id"]) == (
        *("tool_error", True),
        *("fail", "call_1"),
    )


async def test_words_that_have_no_utf_8_form_are_a_problem_all_the_same(make_client: MakeClient) -> None:
    """Half a character must not leave the answer without a body."""
    client = await make_client(fail)

    response = await client.post("/tool_calls", json={"name": "fail", "args": {"how": "half a smile"}})

    assert response.status_code == 500
    assert response.json()["detail"] == "? smile"


async def test_a_tripped_guardrail_says_which_and_why(make_client: MakeClient) -> None:
    """What it has to say is for the calling program."""
    client = await make_client(guarded)

    problem = (await client.post("/tool_calls", json={"name": "guarded", "args": {}, "id": "call_1"})).json()

    assert problem["detail"] == "The guardrail <lambda> refuses this call of guarded."
    assert (problem["name"], problem["output_info"], problem["call_id"]) == ("<lambda>", {"rule": 7}, "call_1")


async def test_a_server_where_too_much_waits_says_when_to_come_back(make_client: MakeClient) -> None:
    """503 has the header that clients look for; what waits already is found again."""
    client = await make_client(ask, max_approvals=1)

    first = await client.post("/tool_calls", json={"name": "ask", "args": {"number": 1}, "id": "1"})
    refused = await client.post("/tool_calls", json={"name": "ask", "args": {"number": 2}, "id": "2"})
    again = await client.post("/tool_calls", json={"name": "ask", "args": {"number": 1}, "id": "1"})

    assert (first.status_code, refused.status_code, again.status_code) == (202, 503, 202)
    assert refused.headers["Retry-After"] == "60"
    assert read_problem(refused) == (
        "too-many-approvals",
        ("So many calls wait for a person's approval that this server takes no more."),
    )
