"""An observer that does not watch costs nothing and changes nothing."""

from sidecall.kernel.core.invocation import new_invocation
from sidecall.kernel.ports.observer import Unobserved
from tests.kit.calls import write_request
from tests.kit.tools import ping


def test_calls_may_go_unobserved() -> None:
    """As in tests, where no server runs."""
    request = write_request("ping")
    nobody = Unobserved()

    invocation = new_invocation(request, ping.compiled, None)
    begun = nobody.begin(invocation)
    nobody.end(invocation, begun, "success")
    nobody.refuse(request, "unknown_tool")

    assert begun is None
