"""What a running server refuses is said to the user who typed the command."""

import httpx
import pytest

from sidecall.terminal.remote import NoServer, RefusedByServer, reach, require


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ({}, "put a key or a token into SIDECALL_API_KEY. `sidecall keys new NAME` makes a key."),
        (
            {"SIDECALL_API_KEY": "old"},
            "what SIDECALL_API_KEY has opens nothing there. `sidecall keys list` says which keys are valid.",
        ),
    ],
)
def test_who_is_not_known_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch, key: dict[str, str], told: str) -> None:
    """Not the header, which the program sends."""
    monkeypatch.delenv("SIDECALL_API_KEY", raising=False)
    for name, value in key.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(RefusedByServer) as refused:
        require(httpx.Response(401, json={"detail": "Send a credential."}))

    assert refused.value.message == f"The server does not know who asks: {told}"


def test_an_address_without_a_protocol_is_told_how_to_write_it() -> None:
    """Though what is wrong is also that no server answers there."""
    with pytest.raises(NoServer) as refused, reach("tools.example.com") as client:
        client.get("/tools")

    assert refused.value.message == (
        "no server answers at tools.example.com: an address begins with http:// or https://. Start one with `sidecall "
        "serve`, or say where it is with --url or SIDECALL_URL."
    )
