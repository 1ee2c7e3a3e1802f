"""The operator hears of what needs a person, and of nothing else."""

import logging
from typing import Annotated, Any

import pytest

from sidecall import Caller, InjectedState, ToolContext, ToolException, tool
from sidecall.kernel.pipeline.hooks import is_visible
from tests.kit.calls import run
from tests.kit.clients import MakeClient


async def _offend(how: str) -> Any:
    @tool(timeout=1000)
    async def offend(number: int) -> Any:
        """Offend."""
        if how == "politely":
            raise ToolException("No.")
        if how == "crash":
            raise ValueError("canary-4711")
        return object()

    args = {"number": "x" if how == "arguments" else 1}
    return await run(offend, args)


@pytest.mark.parametrize(
    ("how", "kind", "reason"),
    [
        pytest.param("crash", "execution_error", "ValueError: canary-4711", id="crash"),
        pytest.param("output", "output_error", "has no JSON form", id="output"),
    ],
)
async def test_a_failure_that_needs_a_person_is_one_line_with_its_traceback(
    how: str, kind: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With the ids by which it is found."""
    message = await _offend(how)

    assert [record.getMessage() for record in caplog.records if record.name == "sidecall"] == [
        f"tool offend failed: {kind} (call call_1, invocation {message.id})"
    ]
    assert reason in caplog.text


@pytest.mark.parametrize("how", ["politely", "arguments"])
async def test_a_failure_that_the_model_can_repair_is_not_logged(how: str, caplog: pytest.LogCaptureFixture) -> None:
    """It would bury the others."""
    message = await _offend(how)

    assert message.status == "error"
    assert [record for record in caplog.records if record.name == "sidecall"] == []


def _broken(*_: Any) -> Any:
    raise RuntimeError("canary-4711")


class Broken:
    """Crash at the end of a call."""

    on_tool_end = staticmethod(_broken)


@pytest.mark.parametrize(
    ("options", "args", "hook"),
    [
        pytest.param({"callbacks": [Broken()]}, {"number": 1}, "a callback (on_tool_end)", id="callback"),
        pytest.param({"handle_validation_error": _broken}, {}, "an error handler", id="handler"),
        pytest.param({"tool_input_guardrails": [_broken]}, {"number": 1}, "the guardrail _broken", id="guardrail"),
    ],
)
async def test_a_crash_around_a_tool_is_logged_as_such(
    options: Any, args: Any, hook: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With which hook it was, the tool, the call and the traceback."""

    @tool(**options)
    async def work(number: int) -> int:
        """Work."""
        return number

    await run(work, args)

    assert caplog.messages == [f"{hook} of tool work failed (call call_1)"]
    assert "RuntimeError: canary-4711" in caplog.text


async def test_a_crash_of_a_predicate_says_which_tool_is_hidden(caplog: pytest.LogCaptureFixture) -> None:
    """There is no call to name."""
    work = tool("work", description="Work.", is_enabled=_broken)(lambda: None)

    await is_visible(work.compiled, Caller())

    assert caplog.messages == ["is_enabled of tool work failed; the tool is hidden"]
    assert "RuntimeError: canary-4711" in caplog.text


@tool
async def login(user: str, password: str, *, context: ToolContext, seat: Annotated[str, InjectedState("seat")]) -> Any:
    """Log in."""
    return {"user": user, "token": "canary-4711"}


async def _logged(make_client: MakeClient, log_as: Any, level: int = logging.INFO, **settings: Any) -> list[Any]:
    """Log in, ask for a tool that does not exist, and read the log."""
    log = log_as(as_json=True)
    client = await make_client(login, **settings)
    logging.getLogger("sidecall").setLevel(level)
    args = {"user": "ada", "password": "canary-4711", "seat": "hidden", "context": "hidden"}
    calls = [{"name": "login", "args": args, "id": "call_1"}, {"name": "nope", "args": {}, "id": "call_2"}]
    await client.post("/tool_calls/batch", json=[calls[0] | {"state": {"seat": "canary-4711"}}, calls[1]])
    written: list[Any] = log.lines
    return written


async def test_calls_that_succeed_are_not_logged(make_client: MakeClient, log_as: Any) -> None:
    """There are too many of them."""
    assert await _logged(make_client, log_as) == []


@pytest.mark.parametrize(
    ("settings", "level", "shown"),
    [
        pytest.param({"log_calls": True}, logging.INFO, "info", id="wanted"),
        pytest.param({}, logging.DEBUG, "debug", id="at level debug"),
    ],
)
async def test_each_call_is_a_line_where_that_is_wanted(
    make_client: MakeClient, log_as: Any, settings: Any, level: int, shown: str
) -> None:
    """How it ended and how long it took, but not what it said."""
    known, unknown = await _logged(make_client, log_as, level, **settings)

    assert {name: known[name] for name in ("level", "event", "tool", "call_id", "outcome")} == {
        "level": shown,
        "event": "tool call",
        "tool": "login",
        "call_id": "call_1",
        "outcome": "success",
    }
    assert known["duration_ms"] > 0
    assert (unknown["tool"], unknown["outcome"]) == ("nope", "unknown_tool")
    assert "arguments" not in known
    assert "result" not in known


async def test_lines_name_the_caller(make_client: MakeClient, log_as: Any) -> None:
    """Where a gateway says who that is, no matter what became of the call."""
    log = log_as(as_json=True)
    client = await make_client(login, log_calls=True, caller_header="X-User")
    args = {"user": "ada", "password": "canary-4711"}
    named, anonymous = {"X-User": "ada"}, {"X-User": ""}
    await client.post("/tool_calls", json={"name": "login", "args": args, "state": {"seat": 1}}, headers=named)
    await client.post("/tool_calls", json={"name": "nope", "args": {}}, headers=named)
    await client.post("/tool_calls", json={"name": "nope", "args": {}}, headers=anonymous)

    assert [line.get("caller") for line in log.lines] == ["ada", "ada", None]


async def test_arguments_and_results_are_shown_on_request_but_for_secrets(make_client: MakeClient, log_as: Any) -> None:
    """Hidden parameters are nobody's arguments."""
    known, _ = await _logged(make_client, log_as, log_calls=True, log_args=True, log_redact="seat")

    assert known["arguments"] == {"user": "ada", "password": "[redacted]"}
    assert known["result"] == {"user": "ada", "token": "[redacted]"}


@pytest.mark.parametrize("query", ["", "?format=openai"])
async def test_what_the_program_has_not_sent_is_named(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, query: str
) -> None:
    """On the line of the call and on that of the request."""
    caplog.set_level(logging.INFO, logger="sidecall")

    @tool
    async def sit(seat: Annotated[str, InjectedState("seat")]) -> str:
        """Say which seat."""
        return seat

    client = await make_client(sit, log_calls=True, log_requests=True)

    answer = await client.post(f"/tool_calls{query}", json={"name": "sit", "args": {}, "id": "call_1"})

    said = [vars(it) for it in caplog.records if vars(it).get("event") in ("tool call", "request")]
    detail = answer.json()["detail"]
    assert (answer.status_code, "`seat`" in detail) == (422, True)
    assert [it["event"] for it in said] == ["tool call", "request"]
    assert (said[0]["outcome"], said[0]["missing"]) == ("missing_context", detail)
    assert (said[1]["problem"], said[1]["detail"]) == ("missing-context", detail)
