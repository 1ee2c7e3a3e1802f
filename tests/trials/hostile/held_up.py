"""Do whatever grows with what callers, models and tools send, at its bound, beside somebody who asks every 10 ms."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from tests.kit.postgres import find_programs, running
from tests.kit.servers import Server
from tests.trials.finding import Finding
from tests.trials.judging import milliseconds
from tests.trials.serving import serving
from tests.trials.witness import Witness

_FEW = "tests/trials/served/held.py"
_MANY = f"tests/trials/served/many.py,{_FEW}"
_EVERY = 0.01
_LONGEST = 0.1
# The best of so many counts: others have their turn on the machine, too.
_TIMES = 3
_HERE = {"Sidecall-Conversation": "one"}
_STREAM = {"Accept": "text/event-stream"}
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "trial", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Client = httpx.Client
Ask = Callable[[Client], httpx.Response]


@dataclass(frozen=True, slots=True)
class Case:
    """What is done, at which bound, and how."""

    what: str
    bound: str
    ask: Ask


def _get(path: str) -> Ask:
    return lambda client: client.get(path)


def _call(name: str, args: Any, **headers: str) -> Ask:
    return _send({"name": name, "args": args, "id": "call_1"}, **headers)


def _send(call: Any, path: str = "/tool_calls", **headers: str) -> Ask:
    wanted = {"Content-Type": "application/json", **headers}
    return lambda client: client.post(path, content=json.dumps(call).encode(), headers=wanted)


def _call_for_openai(name: str, arguments: str) -> Ask:
    return _send({"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}})


def _ask_over_mcp(method: str, **params: Any) -> Ask:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META}}
    more = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    more |= {"Mcp-Name": params["name"]} if "name" in params else {}
    return _send(message, "/mcp", Accept="application/json, text/event-stream", **more)


def _nest(levels: int) -> Any:
    return [_nest(levels - 1)] if levels else 1


def _search(client: Client) -> httpx.Response:
    store = client.post("/vector_stores", json={"name": "one"}).json()["id"]
    lists = [
        {"type": "in", "key": f"key{number}", "value": [f"value {it}" for it in range(100)]} for number in range(10)
    ]
    return client.post(
        f"/vector_stores/{store}/search", json={"query": "words", "filters": {"type": "or", "filters": lists}}
    )


def _send_file(client: Client) -> httpx.Response:
    body = b"Herons fish in shallow water.\n" * 130_000
    sent = client.post("/files", data={"purpose": "assistants"}, files={"file": ("a.txt", body)})
    store = client.post("/vector_stores", json={"name": "two"}).json()["id"]
    return client.post(f"/vector_stores/{store}/files", json={"file_id": sent.json()["id"]})


_VALUES = [f"text {number}" for number in range(49_000)]
_TEXT = "x" * (4_194_304 - 1000)
_BATCH = [{"name": "echo", "args": {"value": "x" * 32_000}, "id": f"call_{number}"} for number in range(128)]
_LONG_NUMBER = int("9" * 4000)
_LEAVE = "for n in range(12_000):\n    open(f'/workspace/{n}', 'w').write('')"
_ADDED = "".join(f"+line {number}\n" for number in range(250_000))
_PATCH = f"*** Begin Patch\n*** Add File: a.txt\n{_ADDED}*** End Patch\n"

_LISTINGS = [
    Case("GET /openapi.json, first", "all routes", _get("/openapi.json")),
    Case("GET /openapi/tools.json, first", "5,000 tools", _get("/openapi/tools.json")),
    Case("the same, without references", "5,000 tools", _get("/openapi/tools.json?refs=false")),
    Case("GET /tools, strict", "5,000 tools", _get("/tools?strict=true")),
    Case("GET /tools, for Gemini", "5,000 tools", _get("/tools?format=gemini")),
    Case("GET /tools, deferred", "5,000 tools", _get("/tools?format=anthropic&search=bm25")),
    Case("GET /tools, one page", "1,000 tools", _get("/tools?limit=1000&format=openai-responses")),
    Case("GET /tools/search by words", "5,000 tools, 100 found", _get("/tools/search?q=items+labels&limit=100")),
    Case("GET /tools/search by a pattern", "200 characters", _get(f"/tools/search?mode=regex&q={'(a|b)*' * 33}")),
    Case("a call of a tool that there is not", "5,000 names", _call("servce_17_lst_items", {})),
    Case("tools/list over MCP", "a page of 250", _ask_over_mcp("tools/list")),
    Case("GET /metrics", "5,000 tools", _get("/metrics")),
]
_BODIES = [
    Case("a call with many values", "49,000 values", _call("echo", {"value": _VALUES})),
    Case("a call with a long text", "4 MiB", _call("echo", {"value": _TEXT})),
    Case("the same as OpenAI's arguments", "4 MiB", _call_for_openai("echo", json.dumps({"value": _TEXT}))),
    Case("the same over MCP", "4 MiB", _ask_over_mcp("tools/call", name="echo", arguments={"value": _TEXT})),
    Case("a call nested deep", "190 levels", _call("echo", {"value": _nest(190)})),
    Case("arguments that do not fit", "49,000 of them", _call("add_all", {"numbers": _VALUES})),
    Case("arguments to be repaired", "49,000 of them", _call("add_all", {"numbers": list(map(str, range(49_000)))})),
    Case("names that there are not", "20,000 names", _call("add_all", {f"name{it}": 1 for it in range(20_000)})),
    Case("numbers of many digits", "25 of 4,000", _call("echo", {"value": [_LONG_NUMBER] * 25})),
    Case("more of them, which are refused", "900 of 4,000", _call("echo", {"value": [_LONG_NUMBER] * 900})),
    Case("a batch", "128 calls, 4 MB", _send(_BATCH, "/tool_calls/batch")),
    Case("a batch as events", "128 calls, 4 MB", _send(_BATCH, "/tool_calls/batch", **_STREAM)),
]
_ANSWERS = [
    Case("progress without waiting", "10,000 times", _call("report", {"times": 10_000}, **_STREAM)),
    Case("parts without waiting", "10,000", _call("count", {"parts": 10_000}, **_STREAM)),
    Case("a long answer, which is cut", "16 MB", _call("fill", {"megabytes": 16})),
    Case("many values from a process", "200,000", _call("list_values", {"count": 200_000})),
]
_REMEMBERED = [
    Case("a remembered call with a long text", "4 MiB", _call("echo", {"value": _TEXT}, Prefer="respond-async")),
    Case("a remembered call with many values", "49,000", _call("echo", {"value": _VALUES}, Prefer="respond-async")),
    Case("an approval of a long text", "4 MiB", _call("approve", {"value": _TEXT})),
    Case("an approval of many values", "49,000", _call("approve", {"value": _VALUES})),
    Case("GET /approvals", "1,000, or 1 MiB", _get("/approvals?limit=1000")),
    Case("GET /tool_calls", "1,000, or 1 MiB", _get("/tool_calls?limit=1000")),
]
_FILES = [
    Case("a search with a large filter", "1,000 values", _search),
    Case("a file that is sent to be searched", "4 MB", _send_file),
    Case("Python that leaves files behind", "12,000 files", _call("run_python", {"code": _LEAVE}, **_HERE)),
    Case("Python where the workspace is full", "12,000 files", _call("run_python", {"code": "1"}, **_HERE)),
    Case("GET /workspaces/{id}/files", "1,000 of 12,000", _get("/workspaces/one/files?limit=1000")),
    Case("DELETE /workspaces/{id}", "12,000 files", lambda client: client.delete("/workspaces/one")),
    Case("a patch", "250,000 lines", _call("apply_patch", {"input": _PATCH}, **_HERE)),
    Case("GET /status", "5,000 tools", _get("/status")),
]
CASES = [*_LISTINGS, *_BODIES, *_ANSWERS, *_REMEMBERED, *_FILES]


def run() -> Iterator[Finding]:
    """Do each of them, with what is remembered in SQLite, and in PostgreSQL where its programs are here."""
    yield from _run("SQLite", {}, _TIMES)
    programs = find_programs()
    if programs is not None:
        with running(programs) as cluster:
            settings = {"SIDECALL_STORE": cluster.address(cluster.make_database())}
            yield from _run("PostgreSQL", settings, _TIMES)


def run_shortly() -> Iterator[Finding]:
    """Do each of them once, with few tools."""
    yield from _run("SQLite", {}, 1, _FEW)


def _run(kind: str, settings: Mapping[str, str], times: int, tools: str = _MANY) -> Iterator[Finding]:
    worst: dict[str, float] = {}
    statuses: dict[str, int] = {}
    for _ in range(times):
        for case, seconds, status in do_all(settings, tools):
            worst[case.what] = min(seconds, worst.get(case.what, seconds))
            statuses[case.what] = status
    for case in CASES:
        yield Finding(
            f"held up, {kind}",
            f"{case.what}: {case.bound}",
            "answered, and nobody who asks beside it waits longer than 100 ms",
            f"{statuses[case.what]}; the worst that others waited was {milliseconds(worst[case.what])}",
            statuses[case.what] < 500,
            in_time=worst[case.what] <= _LONGEST,
        )


def do_all(settings: Mapping[str, str], tools: str = _MANY) -> Iterator[tuple[Case, float, int]]:
    """Do each case once; give the seconds that others waited, and the status of the answer."""
    with TemporaryDirectory() as folder:
        kept = {"SIDECALL_STORE": f"sqlite:///{folder}/ledger.db", "SIDECALL_WORKSPACE_DIR": f"{folder}/workspaces"}
        wanted = {**kept, "SIDECALL_TOOLKITS": "files,python,file_search", "SIDECALL_PROCESSES": "1", **settings}
        with (
            serving(tools, **wanted) as server,
            httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client,
        ):
            for case in CASES:
                yield case, *_do(server, client, case)


def _do(server: Server, client: Client, case: Case) -> tuple[float, int]:
    with Witness(server.port, _EVERY) as seen:
        answer = case.ask(client)
    return seen.worst, answer.status_code
