"""`sidecall call` gives each call an id of its own."""

import json
import re

import pytest
import respx

from tests.cli.conftest import call

pytestmark = pytest.mark.usefixtures("tools_here")

TOOLS = '''
from sidecall import tool


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b
'''
URL = "http://sidecall.test"
MESSAGE = {"content": "2", "status": "success", "type": "tool", "tool_call_id": "call_1"}
DETAIL = {"args_schema": {"properties": {"a": {"type": "integer"}}}}


def test_each_command_is_a_call_of_its_own() -> None:
    """With another id, which a server may take for a key."""
    first, second = (json.loads(call("add", "a=1").stdout)["tool_call_id"] for _ in range(2))

    assert re.fullmatch("call_[0-9a-f]{32}", first)
    assert re.fullmatch("call_[0-9a-f]{32}", second)
    assert first != second


@pytest.mark.respx(base_url=URL)
def test_each_command_that_asks_a_server_sends_an_id_of_its_own(respx_mock: respx.MockRouter) -> None:
    """So that the second is not answered with what the first was."""
    respx_mock.get("/tools/add").respond(json=DETAIL)
    route = respx_mock.post("/tool_calls").respond(json=MESSAGE)

    call("add", "a=1", "--url", URL)
    call("add", "a=1", "--url", URL)
    first, second = (json.loads(sent.request.content)["id"] for sent in route.calls)

    assert re.fullmatch("call_[0-9a-f]{32}", first)
    assert re.fullmatch("call_[0-9a-f]{32}", second)
    assert first != second
