"""A tool in a process asks a person to decide."""

import pytest

from sidecall import ApprovalRequired
from tests.executors.conftest import Answer
from tests.executors.process.asking_tools import refund


async def test_what_a_tool_asks_crosses_to_the_server(answer: Answer) -> None:
    """Also where JSON cannot say all of it."""
    with pytest.raises(ApprovalRequired) as caught:
        await answer(refund, {"amount": 500})
    approval = caught.value.approval

    assert (approval.description, approval.preview) == ("Pay 500 back?", {"amount": 500})
    assert approval.payload == "(JSON cannot say this payload.)"


async def test_an_approved_call_runs_there_and_asks_no_second_time(answer: Answer) -> None:
    """The second question is a failure."""
    assert (await answer(refund, {"amount": 500}, approved=True)).content == "refunded 500"

    failed = await answer(refund, {"amount": 2000}, approved=True)

    assert failed.response_metadata["error"]["kind"] == "execution_error"
