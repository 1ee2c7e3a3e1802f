"""Both clients list, call, remember and approve, and say what goes wrong by an exception of its own."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall.client import (
    ApprovalNeeded,
    Conflicting,
    NotAllowed,
    NotAuthenticated,
    NotThere,
    PersonVerdict,
    RequestRefused,
    RequestUnfit,
    ToolAnswer,
)
from sidecall.client.connection import make_operations
from sidecall.client.durable_calls import read_verdict
from sidecall.client.operations import id_of
from sidecall.client.steps import Walk
from tests.client.conftest import OpenApp, OpenTwin
from tests.client.desk import double, find, recall, refund, sleep
from tests.client.twins import make_twin, wait_for
from tests.kit.callers.keys import write_keys
from tests.kit.calls import write_call


async def test_tools_are_listed_for_each_provider(open_twin: OpenTwin) -> None:
    """As its API takes them; filters choose, and an unchanged list comes again."""
    twin = await open_twin(double, refund)

    first, again = await twin.ask("tools"), await twin.ask("tools")
    (chosen,) = await twin.ask("tools", format="anthropic", names=["refund"])

    assert [it["function"]["name"] for it in first] == ["double", "refund"]
    assert (again == first, again is first) == (True, False)
    assert (chosen["name"], "input_schema" in chosen) == ("refund", True)
    assert (await twin.ask("tool", "refund"))["requires_approval"] is True
    assert [it["name"] for it in await twin.ask("show_tools", names=["double"])] == ["double"]


def test_an_unchanged_list_is_there_whatever_else_is_listed_meanwhile() -> None:
    """Others push it out of what is kept; and a list that comes without a tag is one all the same."""
    operations = make_operations({})
    tagged = {"headers": {"ETag": '"1"'}, "json": [{"name": "double"}]}

    def begin(user: int) -> Walk[list[Any]]:
        return Walk(operations.list_tools("mcp", {"context": {"user": user}}))

    begin(0).go_on(httpx.Response(200, **tagged))
    again = begin(0)
    for user in range(1, 17):
        begin(user).go_on(httpx.Response(200, **tagged))
    again.go_on(httpx.Response(304))
    untagged = [begin(17), begin(18)]
    for walk in untagged:
        walk.go_on(httpx.Response(200, json=[{"name": "refund"}]))

    assert again.result == [{"name": "double"}]
    assert [walk.result for walk in untagged] == [[{"name": "refund"}]] * 2
    assert "If-None-Match" not in begin(17).step.headers


async def test_a_call_is_answered_with_types(open_twin: OpenTwin) -> None:
    """Content, artifact, what the program supplies, and why a call failed."""
    twin = await open_twin(double, find, recall)

    found = await twin.ask("call", "find", {"query": "tea"}, context={"user": "Ada"})
    state = await twin.ask("call", write_call("recall", key="a"), state={"a": 1})
    failed = await twin.ask("call", "double", {"number": "x"})

    assert (found.content, found.artifact, found.status, found.failure) == (
        "tea for Ada",
        {"rows": ["tea"]},
        "success",
        None,
    )
    assert (state.content, state.tool_call_id) == ("1", "call_1")
    assert (failed.status, failed.failure.kind, failed.failure.errors[0]["loc"]) == (
        "error",
        "invalid_arguments",
        ["number"],
    )
    assert set(found.message) == {
        *("content", "artifact", "tool_call_id", "name", "status", "type", "id", "additional_kwargs"),
        "response_metadata",
    }


async def test_a_batch_is_answered_in_order(open_twin: OpenTwin) -> None:
    """A call that fails harms no other."""
    twin = await open_twin(double)

    answers = await twin.ask(
        "batch", [write_call("double", number=4), write_call("nope"), write_call("double", number=5)]
    )

    assert [answer.content for answer in answers][::2] == ["8", "10"]
    assert answers[1].failure.kind == "unknown_tool"


async def test_a_key_runs_a_call_once(open_twin: OpenTwin) -> None:
    """The second answer is the first one."""
    twin = await open_twin(double)

    first, second = [await twin.ask("call", "double", {"number": 4}, key="a key") for _ in range(2)]

    assert (first.id, first.replayed, second.replayed) == (second.id, False, True)


@pytest.mark.parametrize("key", ["", "a\nb", "Schlüssel", "a" * 256])
async def test_a_key_that_cannot_be_sent_is_refused_here(open_twin: OpenTwin, key: str) -> None:
    """Before anything is sent, so that the call does not run without one."""
    twin = await open_twin(double)

    for method in ("call", "job"):
        with pytest.raises(ValueError, match="a key is 1 to 255 printable ASCII characters"):
            await twin.ask(method, "double", {"number": 4}, key=key)


async def test_any_printable_key_is_its_own(open_twin: OpenTwin) -> None:
    """With quotes and backslashes, too."""
    twin = await open_twin(double)
    keys = ['a"b', r"a\b", "ab", "a\\\\b", "a" * 255, " "]

    answers = [await twin.ask("call", "double", {"number": 4}, key=key) for key in [*keys, *keys]]

    assert [answer.replayed for answer in answers] == [False] * 6 + [True] * 6


async def test_a_deadline_goes_with_a_call(open_twin: OpenTwin) -> None:
    """The server keeps it."""
    twin = await open_twin(sleep)

    answer = await twin.ask("call", "sleep", {"seconds": 60}, timeout=0.05)

    assert answer.failure.kind == "timeout"


async def test_a_job_is_waited_for_followed_and_cancelled(open_twin: OpenTwin) -> None:
    """Also by a program that knows its id only."""
    twin = await open_twin(double, sleep)

    done = await twin.ask("job", "double", {"number": 4})
    state = await wait_for(done.wait)
    events = await wait_for(twin.client.find_job(done.id).events)
    slow = await twin.ask("job", "sleep", {"seconds": 60})
    cancelled = await wait_for(slow.cancel)

    assert (state.status, state.has_ended, state.answer.content) == ("succeeded", True, "8")
    assert (events[-1].content, (await wait_for(done.show)).id) == ("8", done.id)
    assert (cancelled.id, (await wait_for(slow.wait, 20)).status) == (slow.id, "cancelled")
    with pytest.raises(Conflicting):
        await wait_for(done.cancel)


async def test_a_person_decides_on_the_way(open_twin: OpenTwin) -> None:
    """Yes, no, more than that, or somebody else does."""
    twin = await open_twin(refund)
    verdicts = [
        True,
        False,
        PersonVerdict("approve", {"order": 7, "amount": 5}),
        {"decision": "reject", "reason": "Ask first."},
    ]

    answers = [
        await twin.ask("call", "refund", {"order": number}, ask=lambda _, said=said: said)
        for number, said in enumerate(verdicts)
    ]

    assert [answers[index].content for index in (0, 2, 3)] == [
        "Refunded 100 for order 0.",
        "Refunded 5 for order 7.",
        "Ask first.",
    ]
    assert [answer.failure and answer.failure.kind for answer in answers] == [None, "rejected", None, "rejected"]


async def test_approvals_are_listed_and_decided(open_twin: OpenTwin) -> None:
    """A call that nobody has decided about says so; sent again it has its answer."""
    twin = await open_twin(refund)
    calls = [write_call("refund", id=f"call_{number}", order=number) for number in (1, 2)]
    for call in calls:
        with pytest.raises(ApprovalNeeded) as needed:
            await twin.ask("call", call)
        assert needed.value.approvals[0].tool_call["args"]["order"] == call["args"]["order"]

    first, second = await twin.ask("approvals.list")
    approved = await twin.ask("approvals.approve", first.id, {"order": 1, "amount": 3})
    rejected = await twin.ask("approvals.reject", second.id, "No.")

    assert (approved.status, approved.answer.content) == ("approved", "Refunded 3 for order 1.")
    assert (rejected.status, (await twin.ask("approvals.show", second.id)).answer.content) == ("rejected", "No.")
    assert [(await twin.ask("call", call)).content for call in calls] == ["Refunded 3 for order 1.", "No."]
    assert (await twin.ask("approvals.list"), len(await twin.ask("approvals.list", None))) == ([], 2)
    with pytest.raises(Conflicting):
        await twin.ask("approvals.approve", first.id)


async def test_somebody_else_decides_while_the_client_waits(open_app: OpenApp) -> None:
    """As long as it is told to."""
    twin = make_twin("asynchronous", await open_app(refund))

    async def decide_elsewhere(approval: Any) -> None:
        await twin.ask("approvals.approve", approval.id)

    answer = await twin.ask("call", "refund", {"order": 7}, ask=decide_elsewhere)

    assert answer.content == "Refunded 100 for order 7."
    await twin.ask("close")


@pytest.mark.parametrize(
    ("method", "arguments", "expected", "slug"),
    [
        ("tool", ["nope"], NotThere, "unknown-tool"),
        ("tools", ["klingon"], RequestUnfit, "invalid-parameter"),
        ("call", [{"tool": "double"}], RequestUnfit, "not-a-tool-call"),
        ("call", ["recall", {"key": "a"}], RequestUnfit, "missing-context"),
        ("approvals.show", ["nope"], NotThere, "unknown-approval"),
    ],
)
async def test_problems_are_exceptions(
    open_twin: OpenTwin, method: str, arguments: list[Any], expected: type[RequestRefused], slug: str
) -> None:
    """Whose class says who has to act, and whose fields what the server says."""
    twin = await open_twin(double, recall)

    with pytest.raises(expected) as refused:
        await twin.ask(method, *arguments)

    assert (refused.value.slug, bool(refused.value.detail), bool(refused.value.request_id)) == (slug, True, True)


async def test_credentials_are_sent(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, a token, a function that gives one, or what the environment says."""
    keys = tmp_path / "keys.jsonl"
    key = write_keys(keys, {"agent": ("tools:call",)})["agent"]["Authorization"].removeprefix("Bearer ")
    app = await open_app(double, auth="api_key", keys_file=keys)
    options: list[Any] = [{"api_key": key}, {"token": key}, {"token": lambda: key}]

    for known in options:
        assert (await make_twin("asynchronous", app, **known).ask("call", "double", {"number": 4})).content == "8"
    with pytest.raises(NotAuthenticated):
        await make_twin("asynchronous", app).ask("tools")
    monkeypatch.setenv("SIDECALL_API_KEY", key)
    with pytest.raises(NotAllowed):
        await make_twin("asynchronous", app).ask("approvals.list")
    with pytest.raises(ValueError, match="not both"):
        make_twin("asynchronous", app, api_key=key, token=key)


def test_ids_are_found_in_each_dialect() -> None:
    """No matter what their key is called."""
    answers: list[dict[str, Any]] = [
        {"tool_call_id": "a"},
        {"call_id": "a"},
        {"tool_use_id": "a"},
        {"functionResponse": {"id": "a"}},
    ]

    assert [id_of(answer) for answer in answers] == ["a"] * 4


def test_a_verdict_is_plain() -> None:
    """What is neither is refused, so that nothing is approved by accident."""
    assert (read_verdict(None), read_verdict(True), read_verdict(False)) == (
        None,
        PersonVerdict("approve"),
        PersonVerdict("reject"),
    )
    with pytest.raises(TypeError, match="ask has to return"):
        read_verdict("yes")


def test_an_answer_of_a_newer_server_is_read() -> None:
    """Keys that are not known are left out."""
    answer = ToolAnswer.read({"content": "8", "tool_call_id": "a", "name": "double", "later": 1})

    assert (answer.content, answer.status) == ("8", "success")
