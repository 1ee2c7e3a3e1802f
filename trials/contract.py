"""Provoke every answer that the OpenAPI document names, and look at each as a client would."""

import json
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from bench.environments import ROOT
from tests.kit.lines import call
from tests.kit.servers import Server, total
from tests.kit.sockets import connection
from trials.confined.contract_files import (
    FILE_CASES,
    FILES_BY_CHANCE,
    NARROW_FILE_CASES,
    NARROW_FILES,
    make_known,
)
from trials.confined.contract_workspaces import BY_PROGRAMS, NARROW, NARROW_CASES, WORKSPACE_CASES
from trials.contract_access import (
    ACCESS,
    BROKEN_FILE,
    MCP_SERVERS,
    PROVED,
    WHOLE,
    WITHOUT_ANSWERS,
    WITHOUT_HISTORY,
    WITHOUT_PINS,
)
from trials.contract_cases import (
    BROKEN,
    BUSY,
    CASES,
    COUNTED,
    ENDING,
    FULL,
    GONE,
    LISTENING,
    REMEMBERED,
    Case,
    write_tool_call,
)
from trials.contract_secrets import KEYLESS, SECRETS, UNKEPT
from trials.contract_tools import ELSEWHERE, RUN_BUSY, RUN_FULL, TOOL_CASES
from trials.finding import Finding
from trials.serving import serving

TOOLS = "trials/served/typed.py"
# With one that is offered to some callers only, since else it does not matter to `GET /tools` who calls.
_CONDITIONAL = "trials/served/conditional.py"
_JSON = {"content-type": "application/json"}
_MOMENT = 0.02
_KEYED = {"SIDECALL_SECRETS_KEY": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}
_ASKED = "asked-for-by-the-trial"
_PART = re.compile(r"\{[^}]+\}")
_NO_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
_MEMBERS = frozenset(("type", "title", "status", "detail", "instance"))
_RETRYABLE = frozenset((429, 503))


# A case with what was wrong about its answer.
Judged = tuple[Case, list[str]]


def run() -> Iterator[Finding]:
    """Try the second half of O1."""
    said: list[Judged] = []
    usual = (*CASES, *TOOL_CASES, *WORKSPACE_CASES, *REMEMBERED, *ACCESS, *KEYLESS)
    with serving(_CONDITIONAL, SIDECALL_CALLER_HEADER="X-Caller") as server, _client(server) as client:
        known = _known(client) | {"{rule}": _decide_for_good(client)}
        said += [_tried(client, case, known) for case in usual]
    with serving(TOOLS, **NARROW) as server, _client(server) as client:
        said += [_tried(client, case, {}) for case in NARROW_CASES]
    searching = {"SIDECALL_CALLER_HEADER": "X-Caller", "SIDECALL_TOOLKITS": "file_search"}
    with serving(_CONDITIONAL, **searching) as server, _client(server) as client:
        known = make_known(client)
        said += [_tried(client, case, known) for case in FILE_CASES]
    with serving(TOOLS, **NARROW_FILES) as server, _client(server) as client:
        known = make_known(client)
        said += [_tried(client, case, known) for case in NARROW_FILE_CASES]
    said += _try_stores()
    said += _try_histories()
    said += _try_proofs()
    said += _try_reloads()
    said += _try_mcp_servers()
    with serving(TOOLS, SIDECALL_MAX_CONCURRENCY="1", SIDECALL_MAX_QUEUE="0") as server, _client(server) as client:
        said += _while_busy(server, client, (*FULL, *RUN_FULL, *LISTENING))
    with serving(TOOLS, SIDECALL_MAX_CONCURRENCY_PER_CALLER="1") as server, _client(server) as client:
        said += _while_busy(server, client, (*BUSY, *RUN_BUSY))
    with serving(TOOLS, SIDECALL_DRAIN_GRACE="3") as server, _client(server) as client:
        server.terminate()
        server.wait_for("still listening")
        said += [_tried(client, case, {}) for case in ENDING]
    yield _finding(said)


def _finding(said: Sequence[Judged]) -> Finding:
    wrong = [f"{case.operation} {case.status}: {', '.join(found)}" for case, found in said if found]
    left = sorted(
        documented() - ELSEWHERE - BY_PROGRAMS - FILES_BY_CHANCE - {(case.operation, case.status) for case, _ in said}
    )
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
    cut = client.post("/tool_calls", json=write_tool_call("kept")).json()
    waiting = client.post("/tool_calls", json=write_tool_call("approved", amount=1))
    ended = _remember(client, write_tool_call("choose", one="first"), "wait=20")
    held = _remember(client, write_tool_call("approved", amount=2), "wait=1")
    return {
        "{content}": cut["response_metadata"]["artifact_url"],
        "{approval}": waiting.headers["location"],
        "{call}": ended,
        "{held}": held,
    }


def _decide_for_good(client: httpx.Client) -> str:
    """Approve all calls of an extra caller, and return the address of that rule."""
    waiting = client.post("/tool_calls", json=write_tool_call("approved", amount=3), headers={"x-caller": "rita"})
    client.post(waiting.headers["location"], json={"decision": "approve", "always": True}).raise_for_status()
    return f"/approvals/rules/{client.get('/approvals/rules').json()[0]['id']}"


def _remember(client: httpx.Client, tool_call: Any, prefer: str) -> str:
    """Have a call remembered, and return its address."""
    client.post("/tool_calls", json=tool_call, headers={"prefer": prefer}).raise_for_status()
    newest: str = client.get("/tool_calls?limit=1").json()[0]["id"]
    return f"/tool_calls/{newest}"


def _try_stores() -> Iterator[Judged]:
    """Try what depends on what is in the store, and on whether it can be written."""
    bounds = {"SIDECALL_RATE_LIMIT": "4/hour", "SIDECALL_MAX_ARTIFACT_BYTES_PER_CALLER": "4000000"}
    settings = {**bounds, **_KEYED, "SIDECALL_MAX_SECRETS": "1", "SIDECALL_CALLER_HEADER": "X-Caller"}
    with serving(_CONDITIONAL, **settings) as server, _client(server) as client:
        known = _known(client)
        yield from [_tried(client, case, known) for case in (*COUNTED, *SECRETS)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ledger.db"
        with serving(_CONDITIONAL, SIDECALL_STORE=f"sqlite:///{file}", **_KEYED) as server, _client(server) as client:
            known = _known(client)
            client.put("/secrets/ONE", json={"value": "hunter2"}).raise_for_status()
            with closing(sqlite3.connect(file, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                yield from [_tried(client, case, known) for case in (*BROKEN, *UNKEPT)]
                other.execute("UPDATE calls SET record = NULL")
                other.execute("COMMIT")
            while client.get("/readyz").status_code != httpx.codes.OK:
                time.sleep(_MOMENT)
            yield from [_tried(client, case, known) for case in GONE]


def _try_histories() -> Iterator[Judged]:
    """Try what depends on how much is kept of calls that have ended."""
    with serving(TOOLS, SIDECALL_HISTORY="off") as server, _client(server) as client:
        yield from [_tried(client, case, {}) for case in WITHOUT_HISTORY]
    with serving(TOOLS, SIDECALL_HISTORY="meta") as server, _client(server) as client:
        ended = client.post("/tool_calls", json=write_tool_call("choose", one="first")).json()["id"]
        while client.get(f"/tool_calls/{ended}").status_code != httpx.codes.OK:
            time.sleep(_MOMENT)
        yield from [_tried(client, case, {"{past}": f"/tool_calls/{ended}"}) for case in WITHOUT_ANSWERS]


def _try_proofs() -> Iterator[Judged]:
    """Try all that is refused to who does not prove who sends it."""
    unproved = sorted(operation for operation, status in documented() if status == httpx.codes.UNAUTHORIZED)
    issuer = {"SIDECALL_JWT_ISSUER": "https://issuer.example", "SIDECALL_JWT_AUDIENCE": "https://tools.example"}
    with serving(TOOLS, SIDECALL_AUTH="jwt", **issuer) as server, _client(server) as client:
        for operation in unproved:
            path = _PART.sub(_NO_ID, operation.partition(" ")[2])
            yield _tried(client, Case(operation, 401, path), {})
        yield from [_tried(client, case, {}) for case in PROVED]


def _try_reloads() -> Iterator[Judged]:
    """Try to load tools again while their file is whole, and when it is not."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "changing.py"
        file.write_text('from sidecall import tool\n\n\n@tool\ndef one() -> int:\n    """Return it."""\n    return 1\n')
        with serving(str(file)) as server, _client(server) as client:
            yield _tried(client, WHOLE, {})
            file.write_text("def one(:\n")
            yield _tried(client, BROKEN_FILE, {})


def _try_mcp_servers() -> Iterator[Judged]:
    """Try what is said of an MCP server that does not start, and of a file of accepted tools that is none."""
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "pins.json"
        settings = {
            "SIDECALL_MCP_SERVERS": json.dumps({"mcpServers": {"gone": {"command": "false"}}}),
            "SIDECALL_MCP_PIN": "true",
            "SIDECALL_MCP_PINS_FILE": str(pins),
            "SIDECALL_CALLER_HEADER": "X-Caller",
        }
        with serving(TOOLS, **settings) as server, _client(server) as client:
            yield from [_tried(client, case, {}) for case in MCP_SERVERS]
            pins.write_text("[]")
            yield from [_tried(client, case, {}) for case in WITHOUT_PINS]


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
        asked = client.post(
            "/tool_calls", json=write_tool_call("waiting", seconds=1), headers={"prefer": "respond-async"}
        )
        known = {"{queued}": asked.headers.get("location", "")}
        return [_tried(client, case, known) for case in cases]
