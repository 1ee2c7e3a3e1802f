"""The parts of a server are built and closed in one place."""

from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from pydantic import ValidationError

from sidecall import InjectedStore, InjectedToolArg, Registry, Secret, Store, ToolCall, ToolException, tool
from sidecall.composition.local_pipeline import build_pipeline
from sidecall.kernel.core.errors import ToolAlreadyRegistered
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.approvals.review import Review
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.calls import write_request
from tests.kit.clients import MakeClient

TOOL = 'from sidecall import tool\n\n\n@tool\ndef {name}() -> str:\n    """Answer."""\n    return "{name}"\n'


pytestmark = pytest.mark.usefixtures("here")


@tool
def ping() -> str:
    """Answer."""
    return "pong"


def test_without_arguments_everything_comes_from_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `uvicorn --factory sidecall.main:create_app` serves, in worker processes too."""
    (here / "mine.py").write_text(TOOL.format(name="one"))
    monkeypatch.setenv("SIDECALL_TOOLS", "mine.py")
    monkeypatch.setenv("SIDECALL_MAX_BATCH", "3")

    app = create_app()

    assert app.state.parts.registry.names == ["one"]
    assert app.state.parts.bounds.calls == 3


def test_a_registry_that_is_given_is_the_whole_offer(here: Path) -> None:
    """Nothing is discovered beside it."""
    (here / "tools").mkdir()
    (here / "tools/mine.py").write_text(TOOL.format(name="one"))

    app = create_app(Settings(), Registry([ping]))

    assert app.state.parts.registry.names == ["ping"]


def test_a_wrong_setting_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is loaded."""
    monkeypatch.setenv("SIDECALL_TOOLS", "nowhere")
    monkeypatch.setenv("SIDECALL_THREADS", "none")

    with pytest.raises(ValidationError, match="threads"):
        create_app()


def test_two_tools_of_one_name_stop_the_start(here: Path) -> None:
    """Both are named with file and line, and what to write instead."""
    (here / "one.py").write_text(TOOL.format(name="same"))
    (here / "two.py").write_text(TOOL.format(name="same"))

    with pytest.raises(ToolAlreadyRegistered) as caught:
        create_app(Settings(tools=("one.py", "two.py")))

    assert caught.value.message == (
        "Two tools are called 'same': one.py:4 and two.py:4. Give one another name, for instance @tool('same_2')."
    )


async def test_the_executors_are_closed_with_the_server() -> None:
    """A thread that is given back takes no more calls, which is a failed call and no crash."""
    app = create_app(Settings(), Registry([ping]))
    call = {"name": "ping", "args": {}, "id": "call_1"}
    transport = httpx.ASGITransport(app)

    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        async with app.router.lifespan_context(app):
            during = (await client.post("/tool_calls", json=call)).json()
        after = (await client.post("/tool_calls", json=call)).json()

    assert during["content"] == "pong"
    assert after["response_metadata"]["error"]["kind"] == "execution_error"


async def test_the_executors_are_closed_when_the_server_fails() -> None:
    """An error in the body of the lifespan leaves no thread behind."""
    app = create_app(Settings(), Registry([ping]))
    call = {"name": "ping", "args": {}, "id": "call_1"}

    with pytest.raises(RuntimeError, match="server failed"):
        async with app.router.lifespan_context(app):
            raise RuntimeError("server failed")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://sidecall") as client:
        after = (await client.post("/tool_calls", json=call)).json()

    assert after["response_metadata"]["error"]["kind"] == "execution_error"


async def test_the_pipeline_can_be_had_without_a_server() -> None:
    """The command line runs calls on it."""
    request = write_request("ping")

    async with build_pipeline(Registry([ping]), Settings(threads=1, tool_timeout=5)) as pipeline:
        during = await pipeline.run(request)
    after = await pipeline.run(request)

    assert during.content == "pong"
    assert after.status == "error"


@tool(requires_approval=True)
async def remember(text: str, store: Annotated[Store, InjectedStore], key: Annotated[str, Secret("MAIN_KEY")]) -> int:
    """Remember something, and say how much there is."""
    store.put(("texts",), text, {"key": key})
    return len(store.search(("texts",)))


async def test_a_pipeline_without_a_server_has_a_store_and_secrets(here: Path) -> None:
    """As a server has, and its calls can be approved."""
    (here / "MAIN_KEY").write_text("s3cret")
    call = ToolCall(name="remember", args={"text": "a"}, id="call_1")

    async with build_pipeline(Registry([remember]), Settings(secrets_dir=here)) as pipeline:
        with pytest.raises(ApprovalRequired):
            await pipeline.run(CallRequest(call))
        message = await pipeline.run(CallRequest(call, review=Review(approved=True)))

    assert message.content == "1"


async def test_calls_and_people_share_the_approvals_of_a_server(here: Path) -> None:
    """What waits in the pipeline is what the routes show."""
    app = create_app(Settings(secrets_dir=here), Registry([remember]))
    parts = app.state.parts
    (here / "MAIN_KEY").write_text("s3cret")

    with pytest.raises(ApprovalRequired) as caught:
        await parts.pipeline.run(write_request("remember", {"text": "a"}))

    assert [approval.id for approval in (await parts.approvals.list("default")).approvals] == [caught.value.approval.id]


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
    """The setting `log_redact`, no matter what formatter the host of the application uses."""
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
