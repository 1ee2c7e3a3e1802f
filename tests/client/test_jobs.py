"""A job is waited for as long as was said, and known where its server has answered at once."""

import time

import pytest

from sidecall.client import StatusChange
from tests.client.conftest import OpenTwin
from tests.client.desk import double, sleep
from tests.client.twins import wait_for


@pytest.mark.parametrize(("longest", "seconds"), [(60, 0.5), (1, 1.5), (60, 1.2)])
async def test_a_job_is_waited_for_as_long_as_was_said(open_twin: OpenTwin, longest: int, seconds: float) -> None:
    """Also for parts of a second, and where the server waits for less."""
    twin = await open_twin(sleep, max_wait=longest)

    job = await twin.ask("job", "sleep", {"seconds": 60})
    began = time.monotonic()
    state = await wait_for(job.wait, seconds)
    took = time.monotonic() - began

    assert state.status == "running"
    assert seconds <= took + 0.01
    assert (await wait_for(job.wait, 0)).status == "running"
    await wait_for(job.cancel)


async def test_a_job_that_was_refused_has_its_answer(open_twin: OpenTwin) -> None:
    """As of a tool that is not there: the server says so at once, and remembers nothing of it."""
    twin = await open_twin(double)

    job = await twin.ask("job", "nope", {})
    shown, waited, events = await wait_for(job.show), await wait_for(job.wait), await wait_for(job.events)

    assert (shown.id, shown.name, shown.status, shown.kind) == (job.id, "nope", "failed", "unknown_tool")
    assert shown.answer.content == "Error: nope is not a valid tool, try one of [double]."
    assert (waited, events) == (shown, [StatusChange("failed", kind="unknown_tool"), shown.answer])


async def test_a_job_whose_key_was_sent_before_is_that_of_then(open_twin: OpenTwin) -> None:
    """Also where its answer comes at once."""
    twin = await open_twin(double)

    first = await twin.ask("job", "double", {"number": 4}, key="four")
    await wait_for(first.wait)
    again = await twin.ask("job", "double", {"number": 4}, key="four")

    assert again.id == first.id
    assert (await wait_for(again.wait)).answer.content == "8"
