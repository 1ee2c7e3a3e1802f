"""Whoever does not watch costs nothing and changes nothing."""

from sidecall import ToolCall
from sidecall.core.invocation import CallRequest, new_invocation
from sidecall.core.observer import Unobserved
from tests.kit.tools import ping


def test_calls_may_go_unobserved() -> None:
    """As in tests, where no server runs."""
    request = CallRequest(ToolCall(name="ping", args={}, id="call_1"))
    nobody = Unobserved()

    begun = nobody.begin(new_invocation(request, ping.compiled, None))
    nobody.end(begun, "success")
    nobody.refuse(request, "unknown_tool")

    assert begun is None
