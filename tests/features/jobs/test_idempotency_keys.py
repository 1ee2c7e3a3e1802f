"""A call is known again by a key that stays the same from one version to the next."""

from sidecall.features.jobs.idempotency_keys import CallKey, make_key
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall


def test_a_key_is_what_it_was_when_it_was_kept() -> None:
    """The SHA-256 of whose it is, and of what it stands for, as JSON with its names in order."""
    call = ToolCall(name="pay", args={"order": 1, "name": "ü"}, id="1")

    made = make_key("header", Caller("ann"), 'order "1"', call, [None, {}], 1.0)

    assert made == CallKey(
        "0d6c4f723e722704c6f9ebb77d3de4b14fc887b60df475325097b64bde3b8ecf",
        "03b6960fe4b827efa6d99a64a2732f39e93b04fe9c607293a8f33d92ce65cda3",
        1.0,
    )
