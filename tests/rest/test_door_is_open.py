"""An ordinary call takes the short way with any settings; a door that closes makes it several times dearer silently."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecall import Registry
from sidecall.http.application import Application
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Passing, exchange, scope_of, sized
from tests.rest.ways import FRAMEWORK, way

CALL = json.dumps({"name": "way", "args": {}, "id": "call_1"}).encode()
EVERYTHING: dict[str, Any] = {
    "caller_header": "X-User",
    "rate_limit": "100/minute",
    "max_concurrency_per_caller": 10,
    "log_calls": True,
    "log_args": True,
    "log_redact": ("text",),
    "otel": "on",
    "log_level": "debug",
}


async def _files(app: Application, target: str = "/tool_calls") -> list[str]:
    peer = await exchange(app, scope_of("POST", target, sized(CALL, ("x-user", "ann"))), CALL)
    assert peer.status == 200
    files: list[str] = json.loads(json.loads(peer.content)["content"])["files"]
    return files


@pytest.fixture(params=[{}, EVERYTHING], ids=["as it ships", "with everything on"])
async def app(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Build the server; its spans go nowhere."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    made = create_app(Settings(**request.param, secrets_dir=tmp_path), Registry([way]))
    async with made.router.lifespan_context(made):
        yield made


async def test_an_ordinary_call_never_enters_the_framework(app: Application) -> None:
    """Neither its middleware nor its routing."""
    assert await _files(app) == []


async def test_a_call_that_says_more_does(app: Application) -> None:
    """So that the tool is known to see it."""
    assert await _files(app, "/tool_calls?format=langchain") == sorted(FRAMEWORK)


async def test_middleware_of_others_closes_the_door(app: Application) -> None:
    """It has to see every request, and stands outside of all that is ours."""
    app.middleware_stack = None  # as before the first request, which the lifespan was none of
    app.add_middleware(Passing)

    assert await _files(app) == sorted(FRAMEWORK)
