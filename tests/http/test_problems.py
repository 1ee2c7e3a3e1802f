"""What a client program did wrong is said as problem+json, always in the same shape."""

from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from sidecall import InjectedToolArg, Registry, ToolException, ToolGuardrailFunctionOutput, tool
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.ledger.ledger import LedgerBounds
from sidecall.features.ledger.open_ledger import open_ledger
from sidecall.features.server_parts import Parts
from sidecall.features.status.operation import Operation
from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.telemetry.per_minute import Minutes
from sidecall.http.body import Bounds
from sidecall.http.problems import install
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.format import refuse
from sidecall.rest.app import build_api
from sidecall.rest.listings import ToolListings
from tests.kit.clients import MakeClient

JSON = {"Content-Type": "application/json"}


@tool
async def greet(name: str, tenant: Annotated[str, InjectedToolArg]) -> str:
    """Greet somebody.

    Args:
        name: Whom.
        tenant: For whom.
    """
    return f"Hello {name}"


@tool(handle_tool_error=None)
async def fail(how: str) -> None:
    """Fail, and let the calling program know.

    Args:
        how: The words.
    """
    raise ToolException(how, retryable=True)


@tool(tool_input_guardrails=[lambda _: ToolGuardrailFunctionOutput.raise_exception()])
async def guarded() -> None:
    """Never run."""


class Crash:
    """Stand where a pipeline stands and crash, with a secret in the error."""

    def begin(self, _request: Any, _tool: Any) -> Any:
        """Fail on one call."""
        raise RuntimeError("password=hunter2")

    async def run_all(self, _requests: Any) -> Any:
        """Fail on many."""
        raise RuntimeError("password=hunter2")


@pytest.fixture
async def crashing() -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of a server whose pipeline has a defect."""
    registry = Registry()
    pipeline: Any = Crash()
    ledger = open_ledger("memory://", LedgerBounds(), refuse)
    admission = Admission(Limits())
    parts = Parts(
        registry=registry,
        pipeline=pipeline,
        approvals=MemoryApprovals(),
        rules=ledger.rules,
        contents=MemoryContents(),
        listings=ToolListings(registry),
        bounds=Bounds(1024, 100, 2),
        jobs=Jobs(ledger, pipeline, registry.get),
        operation=Operation(Minutes(Metrics(), admission), admission, ledger),
    )
    app = build_api(parts)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "slug", "title"),
    [
        ("POST", "/tool_calls", b"{", 400, "malformed-json", "The body is not JSON."),
        ("GET", "/tools/nope", b"", 404, "unknown-tool", "There is no such tool, or it is not visible to you."),
        ("GET", "/nowhere", b"", 404, "not-found", "Not Found"),
        ("DELETE", "/tools", b"", 405, "method-not-allowed", "Method Not Allowed"),
        ("POST", "/tool_calls", b" " * 2000, 413, "body-too-large", "The body is larger than this server takes."),
        ("POST", "/tool_calls", b"{}", 422, "not-a-tool-call", "The body is JSON, but not a ToolCall."),
        ("GET", "/tools?format=toml", b"", 422, "invalid-parameter", "A parameter of the request is wrong."),
        (
            "POST",
            "/tool_calls",
            b'{"name": "greet", "args": {"name": "Ada"}}',
            422,
            "missing-context",
            "The tool needs a value that the caller, not the model, has to supply.",
        ),
        (
            "POST",
            "/tool_calls",
            b'{"name": "guarded", "args": {}}',
            403,
            "guardrail-tripped",
            "A guardrail of the tool refuses this request.",
        ),
        (
            "POST",
            "/tool_calls",
            b'{"name": "fail", "args": {"how": "Busy."}}',
            500,
            "tool-call-failed",
            "The tool failed, and its author lets such a failure reach the calling program.",
        ),
        ("GET", "/approvals/nope", b"", 404, "unknown-approval", "There is no such approval, or it has expired."),
        (
            "POST",
            "/approvals/nope",
            b'{"decision": "perhaps"}',
            422,
            "invalid-decision",
            "The decision does not fit the call.",
        ),
        (
            "POST",
            "/tool_calls/batch",
            b"[1, 2, 3]",
            422,
            "batch-too-large",
            "The batch holds more calls than this server takes at once.",
        ),
    ],
    ids=lambda value: value.decode()[:12] if isinstance(value, bytes) else None,
)
async def test_every_problem_has_the_members_of_rfc_9457(
    make_client: MakeClient, method: str, path: str, content: bytes, status: int, slug: str, title: str
) -> None:
    """A client can show and log any of them alike."""
    client = await make_client(greet, guarded, fail, max_body_bytes=1024, max_batch=2)

    response = await client.request(method, path, content=content, headers={**JSON, "X-Request-Id": "req-1"})
    problem = response.json()

    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    assert list(problem)[:5] == ["type", "title", "status", "detail", "instance"]
    assert problem["type"] == f"urn:sidecall:problem:{slug}"
    assert problem["title"] == title
    assert problem["status"] == status
    assert problem["detail"] != ""
    assert problem["instance"] == response.headers["X-Request-Id"] == "req-1"


async def test_a_problem_has_an_instance_without_a_sent_id(make_client: MakeClient) -> None:
    """The minted id is in the body and in the header."""
    client = await make_client()

    response = await client.get("/nowhere")

    assert response.json()["instance"] == response.headers["X-Request-Id"]
    assert UUID(response.json()["instance"]).version == 7


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/tools", "GET, HEAD"),
        ("PUT", "/tools/greet", "GET, HEAD"),
        ("PATCH", "/tool_calls/batch", "POST"),
        ("DELETE", "/healthz", "GET, HEAD"),
        ("PUT", "/tool_calls", "GET, HEAD, POST"),
        ("DELETE", "/approvals", "GET, HEAD"),
        ("DELETE", "/approvals/7", "GET, HEAD, POST"),
    ],
)
async def test_a_wrong_method_is_told_the_right_one(
    make_client: MakeClient, method: str, path: str, allow: str
) -> None:
    """405 has the header that RFC 9110 asks for."""
    client = await make_client()

    response = await client.request(method, path)

    assert response.status_code == 405
    assert response.headers["Allow"] == allow
    assert response.json()["detail"] == (
        f"{method} {path}: Method Not Allowed. See /docs for what this server answers."
    )


async def test_a_path_that_is_not_there_points_to_the_documentation(make_client: MakeClient) -> None:
    """404 says what was asked for and where to look."""
    client = await make_client()

    response = await client.get("/tool-calls")

    assert response.status_code == 404
    assert response.json()["detail"] == "GET /tool-calls: Not Found. See /docs for what this server answers."


async def test_a_wrong_parameter_is_located(make_client: MakeClient) -> None:
    """422 names the parameter and the rule, without what was sent."""
    client = await make_client()

    response = await client.get("/tools", params={"strict": "hunter2"})

    assert response.status_code == 422
    assert response.json()["detail"] == "strict: Input should be a valid boolean, unable to interpret input"
    assert response.json()["errors"] == [
        {
            "loc": ["query", "strict"],
            "type": "bool_parsing",
            "msg": "Input should be a valid boolean, unable to interpret input",
        }
    ]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/tool_calls", b'{"name": "greet", "args": {}}'),
        ("/tool_calls/batch", b'[{"name": "greet", "args": {}}]'),
    ],
)
async def test_a_defect_is_a_problem_that_tells_no_secret(
    crashing: httpx.AsyncClient, path: str, content: bytes
) -> None:
    """500 says that it is the server's fault and where the operator finds more."""
    response = await crashing.post(path, content=content, headers={**JSON, "X-Request-Id": "req-1"})

    assert response.status_code == 500
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers.get_list("X-Request-Id") == ["req-1"]
    # The server closes it, and a client that is not told sends the next request into the void.
    assert response.headers["Connection"] == "close"
    assert response.json() == {
        "type": "urn:sidecall:problem:internal-error",
        "title": "The server failed.",
        "status": 500,
        "detail": "This is a defect of the server; its log has the details under the request id req-1.",
        "instance": "req-1",
    }


async def test_a_defect_is_logged_under_the_id_of_the_request(
    crashing: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    """The operator finds the traceback by what the caller was told."""
    body = b'{"name": "greet", "args": {}}'

    await crashing.post("/tool_calls", content=body, headers={**JSON, "X-Request-Id": "req-1"})

    assert "req-1" in caplog.text
    assert "RuntimeError: password=hunter2" in caplog.text


async def test_a_server_with_a_defect_goes_on_answering(crashing: httpx.AsyncClient) -> None:
    """One 500 harms no other request."""
    await crashing.post("/tool_calls", content=b'{"name": "greet", "args": {}}', headers=JSON)

    response = await crashing.get("/healthz")

    assert response.status_code == 200


async def test_what_cannot_be_read_is_said_so() -> None:
    """What is not accepted is nothing to those who only read."""
    app = FastAPI()
    install(app)

    @app.api_route("/", methods=["GET", "POST"])
    async def refuse_all() -> None:
        raise StoreUnavailable

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        read, sent = (await client.get("/")).json(), (await client.post("/")).json()

    assert read["detail"] == "What this server remembers cannot be read just now."
    assert sent["detail"] == (
        "What this server remembers cannot be reached just now, so it accepts nothing that has to be remembered."
    )
    assert read["type"] == sent["type"] == "urn:sidecall:problem:store-unavailable"
