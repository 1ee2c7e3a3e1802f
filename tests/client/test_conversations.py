"""A call says to which conversation it belongs."""

import pytest

from sidecall.client import ApprovalNeeded
from tests.client.conftest import OpenApp, OpenTwin
from tests.client.desk import refund
from tests.client.twins import make_twin


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chat-7", "chat-7"),
        ("chat 7", "sha256-a58391762f8c77c4a32b30a2078dbddacba3075a5b3f6f2ae0ca0c65cfdabe21"),
        ("a/b", "sha256-c14cddc033f64b9dea80ea675cf280a015e672516090a5626781153dc68fea11"),
        ("..", "sha256-5ec1f7e700f37c3d0b2981d04855fc34b94aaa15457b05ca571817442d228f81"),
    ],
)
async def test_a_call_belongs_to_a_conversation(open_twin: OpenTwin, name: str, expected: str) -> None:
    """By a name that its header can carry, and that is the same each time."""
    twin = await open_twin(refund)

    with pytest.raises(ApprovalNeeded) as waiting:
        await twin.ask("call", "refund", {"order": 7}, conversation=name)

    assert waiting.value.approvals[0].document["conversation_id"] == expected


@pytest.mark.parametrize("headers", [{}, {"sidecall-conversation": "of-all"}])
async def test_who_names_the_conversation_already_is_heard(open_app: OpenApp, headers: dict[str, str]) -> None:
    """In the headers of all calls, or in the context beside this one."""
    twin = make_twin("blocking", await open_app(refund), headers=headers)
    context = {} if headers else {"context": {"conversation_id": "of-all"}}

    with pytest.raises(ApprovalNeeded) as waiting:
        await twin.ask("call", "refund", {"order": 7}, conversation="chat-7", **context)

    assert waiting.value.approvals[0].document["conversation_id"] == "of-all"


async def test_a_preview_knows_what_waits_in_the_conversation(open_twin: OpenTwin) -> None:
    """And nothing of others."""
    twin = await open_twin(refund)
    call = {"name": "refund", "args": {"order": 7}, "id": "call_1"}
    with pytest.raises(ApprovalNeeded) as waiting:
        await twin.ask("call", call, conversation="chat-7")

    here, elsewhere = [await twin.ask("preview", call, conversation=name) for name in ("chat-7", "chat-8")]

    assert (here["approval"]["id"], elsewhere["approval"]) == (waiting.value.approvals[0].id, None)
