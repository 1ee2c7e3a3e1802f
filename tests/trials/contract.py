"""Provoke every answer that the OpenAPI document names, and look at each as a client would."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.environments import ROOT
from tests.kit.lines import call
from tests.kit.servers import Server, total
from tests.kit.sockets import connection
from tests.trials.finding import Finding
from tests.trials.serving import serving

TOOLS = "tests/trials/served/typed.py"
# With one that is offered to some callers only, since else it does not matter to `GET /tools` who calls.
_CONDITIONAL = "tests/trials/served/conditional.py"
_JSON = {"content-type": "application/json"}
_MOMENT = 0.02
_ASKED = "asked-for-by-the-trial"
_MEMBERS = frozenset(("type", "title", "status", "detail", "instance"))
_RETRYABLE = frozenset((429, 503))


@dataclass(frozen=True, slots=True)
class Case:
    """A request and the documented answer that it has to bring about; `{…}` in its path is filled in."""

    operation: str
    status: int
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The method, which the operation begins with."""
        return self.operation.partition(" ")[0].upper()


def _call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": "call_1"}


def _posts(operation: str, path: str, right: Any) -> tuple[Case, ...]:
    """List what every route that takes JSON refuses."""
    return (
        Case(operation, 400, path, b"{"),
        Case(operation, 413, path, b" " * 5_000_000),
        Case(operation, 415, path, json.dumps(right).encode(), {"content-type": "text/plain"}),
    )


# A case with what was wrong about its answer.
Judged = tuple[Case, list[str]]

CALLS, BATCH, DECIDE = "post /tool_calls", "post /tool_calls/batch", "post /approvals/{approval_id}"
_NAMELESS = {"x-caller": "x" * 1000}
CASES: tuple[Case, ...] = (
    Case("get /tools", 200, "/tools"),
    Case("get /tools", 304, "/tools", headers={"if-none-match": "*"}),
    Case("get /tools", 400, "/tools?strict=false", headers=_NAMELESS),
    Case("get /tools", 422, "/tools?format=cobol"),
    Case("get /tools/{name}", 200, "/tools/rows"),
    Case("get /tools/{name}", 400, "/tools/rows", headers=_NAMELESS),
    Case("get /tools/{name}", 404, "/tools/none"),
    Case(CALLS, 200, "/tool_calls", _call("choose", one="first")),
    Case(CALLS, 202, "/tool_calls", _call("approved", amount=1)),
    Case(CALLS, 403, "/tool_calls", _call("forbidden")),
    Case(CALLS, 422, "/tool_calls", {"a": 1}),
    Case(CALLS, 500, "/tool_calls", _call("fail_through")),
    *_posts(CALLS, "/tool_calls", _call("kept")),
    Case(BATCH, 200, "/tool_calls/batch", [_call("choose", one="first"), _call("fail_through"), _call("forbidden")]),
    Case(BATCH, 422, "/tool_calls/batch", [1]),
    *_posts(BATCH, "/tool_calls/batch", [_call("kept")]),
    Case("get /contents/{content_id}", 200, "{content}"),
    Case("get /contents/{content_id}", 400, "{content}", headers=_NAMELESS),
    Case("get /contents/{content_id}", 404, "/contents/none"),
    Case("get /approvals", 200, "/approvals?status=pending"),
    Case("get /approvals", 400, "/approvals", headers=_NAMELESS),
    Case("get /approvals", 422, "/approvals?status=lost"),
    Case("get /approvals/{approval_id}", 200, "{approval}"),
    Case("get /approvals/{approval_id}", 400, "{approval}", headers=_NAMELESS),
    Case("get /approvals/{approval_id}", 404, "/approvals/none"),
    Case("get /approvals/{approval_id}", 422, "{approval}?format=cobol"),
    *_posts(DECIDE, "{approval}", {"decision": "reject"}),
    Case(DECIDE, 404, "/approvals/none", {"decision": "reject"}),
    Case(DECIDE, 422, "{approval}", {"decision": "perhaps"}),
    Case(DECIDE, 200, "{approval}", {"decision": "approve"}),
    Case(DECIDE, 409, "{approval}", {"decision": "reject"}),
    Case("get /healthz", 200, "/healthz"),
    Case("get /readyz", 200, "/readyz"),
    Case("get /metrics", 200, "/metrics"),
    Case("get nothing", 404, "/nowhere"),
    Case("delete nothing", 405, "/tool_calls"),
)
# What needs a server that is busy, or about to end.
BUSY = (Case(CALLS, 429, "/tool_calls", _call("kept")), Case(CALLS, 503, "/tool_calls", _call("approved", amount=1)))
ENDING = (Case("get /readyz", 503, "/readyz"),)


def run() -> Iterator[Finding]:
    """Try the second half of O1."""
    said: list[Judged] = []
    with serving(_CONDITIONAL, SIDECALL_CALLER_HEADER="X-Caller") as server, _client(server) as client:
        known = _known(client)
        said += [_tried(client, case, known) for case in CASES]
    with serving(TOOLS, SIDECALL_MAX_CONCURRENCY="1", SIDECALL_MAX_QUEUE="0") as server, _client(server) as client:
        said += _while_busy(server, client, BUSY[1:])
    with serving(TOOLS, SIDECALL_MAX_CONCURRENCY_PER_CALLER="1") as server, _client(server) as client:
        said += _while_busy(server, client, BUSY[:1])
    with serving(TOOLS, SIDECALL_DRAIN_GRACE="3") as server, _client(server) as client:
        server.terminate()
        server.wait_for("still listening")
        said += [_tried(client, case, {}) for case in ENDING]
    yield _finding(said)


def _finding(said: Sequence[Judged]) -> Finding:
    wrong = [f"{case.operation} {case.status}: {', '.join(found)}" for case, found in said if found]
    left = sorted(documented() - {(case.operation, case.status) for case, _ in said})
    untried = f"; not tried: {', '.join(f'{operation} {status}' for operation, status in left)}" if left else ""
    return Finding(
        "O1",
        "every answer that the OpenAPI document names, brought about on purpose",
        "the documented status, X-Request-Id as sent or minted, problem+json with its five members on errors, "
        "Retry-After on 429 and 503",
        f"{len(said)} tried, {len(wrong)} wrong {'; '.join(wrong)}{untried}",
        not wrong and not left,
    )


def documented() -> set[tuple[str, int]]:
    """List the operations of the committed document with each of their statuses."""
    document = json.loads((ROOT / "openapi" / "openapi.json").read_text())
    return {
        (f"{method} {path}", int(status))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for status in operation["responses"]
    }


def _client(server: Server) -> httpx.Client:
    return httpx.Client(base_url=server.url, trust_env=False, timeout=30)


def _known(client: httpx.Client) -> dict[str, str]:
    """Make a cut content and an approval, whose addresses later requests need."""
    cut = client.post("/tool_calls", json=_call("kept")).json()
    waiting = client.post("/tool_calls", json=_call("approved", amount=1))
    return {"{content}": cut["response_metadata"]["artifact_url"], "{approval}": waiting.headers["location"]}


def _tried(client: httpx.Client, case: Case, known: Mapping[str, str]) -> Judged:
    return case, _judged(case, _ask(client, case, known))


def _ask(client: httpx.Client, case: Case, known: Mapping[str, str]) -> httpx.Response:
    path = case.path
    for name, address in known.items():
        path = path.replace(name, address)
    content = case.body if isinstance(case.body, bytes | None) else json.dumps(case.body).encode()
    sent = {"x-request-id": _ASKED, **(_JSON if content is not None else {}), **case.headers}
    return client.request(case.method, path, content=content, headers=sent)


def _judged(case: Case, answer: httpx.Response) -> list[str]:
    """List what is wrong with an answer."""
    checks: dict[str, Callable[[], bool]] = {
        f"status {answer.status_code}": lambda: answer.status_code == case.status,
        "no X-Request-Id": lambda: answer.headers.get("x-request-id") == _ASKED,
        "no problem": lambda: answer.status_code < 400 or _is_problem(answer),
        "no Retry-After": lambda: case.status not in _RETRYABLE or case in ENDING or "retry-after" in answer.headers,
    }
    return [what for what, check in checks.items() if not check()]


def _is_problem(answer: httpx.Response) -> bool:
    if not answer.headers.get("content-type", "").startswith("application/problem+json"):
        return False
    said: dict[str, Any] = answer.json()
    return said.keys() >= _MEMBERS and (said["status"], said["instance"]) == (answer.status_code, _ASKED)


def _while_busy(server: Server, client: httpx.Client, cases: Sequence[Case]) -> list[Judged]:
    """Ask while another call runs, which takes the only place there is."""
    with connection(server) as sock:
        sock.sendall(call("waiting", seconds=60))
        while not total(server.metrics(), "sidecall_calls_in_flight"):
            time.sleep(_MOMENT)
        return [_tried(client, case, {}) for case in cases]
