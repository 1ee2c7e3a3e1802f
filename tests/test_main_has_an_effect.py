"""Settings reach the parts that they are about."""

from typing import Annotated, Any

import pytest

from sidecall import InjectedToolArg, ToolException, tool
from tests.kit.clients import MakeClient


@tool
async def pay(iban: str, amount: int) -> dict[str, Any]:
    """Pay.

    Args:
        iban: Whom.
        amount: How much.
    """
    return {"iban": iban, "amount": amount}


@tool
async def sign(text: str, api_key: str, tenant: Annotated[str, InjectedToolArg]) -> dict[str, str]:
    """Sign.

    Args:
        text: What.
        api_key: With what.
        tenant: For whom.
    """
    return {"text": text, "token": "s3cret", "tenant": tenant}


@tool(max_content_bytes=300)
async def complain() -> None:
    """Complain at length."""
    raise ToolException("no " * 1000)


async def test_more_fields_can_be_taken_out_of_lines_about_calls(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    """The setting `log_redact`, whatever formatter the host of the application uses."""
    client = await make_client(pay, log_calls=True, log_args=True, log_redact=("iban",))

    await client.post("/tool_calls", json={"name": "pay", "args": {"iban": "DE021203", "amount": 7}, "id": "call_1"})
    (record,) = [record for record in caplog.records if getattr(record, "event", "") == "tool call"]

    assert vars(record)["arguments"] == {"iban": "[redacted]", "amount": 7}
    assert vars(record)["result"] == {"iban": "[redacted]", "amount": 7}


async def test_lines_about_calls_hold_no_secrets(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    """Neither those that are known by their names, nor what the model had no business to send."""
    client = await make_client(sign, log_calls=True, log_args=True)
    args = {"text": "hi", "api_key": "s3cret", "tenant": "s3cret"}

    call = {"name": "sign", "args": args, "id": "call_1", "context": {"tenant": "acme"}}
    (await client.post("/tool_calls", json=call)).raise_for_status()
    (record,) = [record for record in caplog.records if getattr(record, "event", "") == "tool call"]

    assert vars(record)["arguments"] == {"text": "hi", "api_key": "[redacted]"}
    assert vars(record)["result"] == {"text": "hi", "token": "[redacted]", "tenant": "acme"}


async def test_the_time_that_calls_take_is_counted(make_client: MakeClient) -> None:
    """In seconds, of which every call takes some."""
    client = await make_client(pay)

    await client.post("/tool_calls", json={"name": "pay", "args": {"iban": "DE021203", "amount": 7}, "id": "call_1"})
    lines = (await client.get("/metrics")).text.splitlines()
    (seconds,) = [line for line in lines if line.startswith("sidecall_call_duration_seconds_sum")]

    assert float(seconds.split()[1]) > 0


async def test_a_failure_is_said_within_the_budget_wherever_it_is_said(make_client: MakeClient) -> None:
    """The metadata repeats it, and is read by programs that hand it on."""
    client = await make_client(complain)

    answer = (await client.post("/tool_calls", json={"name": "complain", "args": {}, "id": "call_1"})).json()

    assert answer["response_metadata"]["error"]["message"] == answer["content"]
    assert len(answer["content"].encode()) <= 300
