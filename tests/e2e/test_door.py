"""The server that operators run serves ordinary calls in front of the framework."""

from pathlib import Path

from tests.e2e.conftest import Serve
from tests.kit.servers import CLIENT
from tests.rest import ways


def test_an_ordinary_call_never_enters_the_framework(start_server: Serve) -> None:
    """With all that may be set; one that says more does enter it."""
    settings = {
        "SIDECALL_CALLER_HEADER": "X-User",
        "SIDECALL_RATE_LIMIT": "100/minute",
        "SIDECALL_LOG_CALLS": "true",
        "SIDECALL_LOG_LEVEL": "debug",
    }
    server = start_server("--tools", str(Path(ways.__file__)), **settings)
    call = {"name": "way", "args": {}, "id": "call_1"}

    answers = [
        CLIENT.post(f"{server.url}{target}", json=call, headers={"X-User": "ann"}).json()["content"]
        for target in ("/tool_calls", "/tool_calls?format=langchain")
    ]

    assert answers[0] == '{"files": []}'
    assert "fastapi/routing.py" in answers[1]
