"""Ask one question over and over with wrk, after checking that the answer is right."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from bench.environments import ROOT, Unavailable
from bench.servers import Running

CONNECTIONS = 16
INSTALL_WRK = "wrk is not on the PATH; install it, for instance with `apt-get install wrk` or `brew install wrk`"
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Request:
    """A request, the place of the result in its JSON answer, and the expected value.

    `calls` is how many tool calls one request stands for, `connections` the number of concurrent clients.
    """

    path: str
    body: str = ""
    where: tuple[str | int, ...] = ()
    expected: Any = None
    headers: Mapping[str, str] = field(default_factory=lambda: _JSON)
    status: int = 200
    calls: int = 1
    connections: int = CONNECTIONS

    @property
    def method(self) -> str:
        """POST when there is a body."""
        return "POST" if self.body else "GET"


@dataclass(frozen=True)
class Pace:
    """The rate of answers, and the server's processor time for each call.

    `beside_us` is the part of the server's child processes, such as the one that writes its file.
    """

    calls_per_second: float
    p50_ms: float
    p99_ms: float
    processor_us: float | None
    beside_us: float = 0.0


def count_processor(paces: Mapping[str, Sequence[Pace]]) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Return the microseconds of processor time of each turn by row, and the rows for which nobody counts them."""
    used = {name: [pace.processor_us for pace in taken if pace.processor_us] for name, taken in paces.items()}
    missing = [name for name, taken in paces.items() if len(used[name]) < len(taken)]
    series = {name: taken for name, taken in used.items() if name not in missing}
    return series, dict.fromkeys(missing, "nobody counts processor time here")


def new_client() -> httpx.Client:
    """Make a client that no proxy of the environment comes between."""
    return httpx.Client(trust_env=False, timeout=30)


def verify(client: httpx.Client, url: str, request: Request) -> httpx.Response:
    """Ask once and check the answer.

    Raises:
        Unavailable: It is not the right one.
    """
    try:
        answer = client.request(request.method, url + request.path, content=request.body, headers=request.headers)
    except httpx.HTTPError as error:
        raise Unavailable(f"does not answer: {type(error).__name__}") from None
    if answer.status_code != request.status:
        raise Unavailable(f"answers {answer.status_code} {answer.text[:120]}")
    if request.expected is not None and _pick(answer, request.where) != request.expected:
        raise Unavailable(f"answers wrongly: {answer.text[:120]}")
    return answer


def _pick(answer: httpx.Response, where: tuple[str | int, ...]) -> Any:
    try:
        found = answer.json()
        for key in where:
            found = found[key]
    except (ValueError, LookupError, TypeError):
        return None
    return found


class NoAnswer(Unavailable):
    """Nothing was answered in a turn, as it happens on a machine that does other work besides."""


def drive(server: Running, request: Request, seconds: int = 1) -> Pace:
    """Ask on keep-alive connections for a second or more, and once more if nothing was answered.

    Raises:
        Unavailable: There is no wrk, or some requests were not answered as they should.
    """
    try:
        return _drive(server, request, seconds)
    except NoAnswer:
        return _drive(server, request, seconds)


def _drive(server: Running, request: Request, seconds: int) -> Pace:
    if shutil.which("wrk") is None:
        raise Unavailable(INSTALL_WRK)
    headers = [f"{name}: {value}" for name, value in request.headers.items()]
    options = ["-t1", f"-c{request.connections}", f"-d{seconds}s", "-s", str(ROOT / "bench" / "request.lua")]
    command = ["wrk", *options, server.url + request.path, "--", request.method, request.body, *headers]
    before = server.processor_seconds()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        raise Unavailable(f"wrk failed: {done.stderr.strip()[-120:]}")
    after = server.processor_seconds()
    used = None if before is None or after is None else (after[0] - before[0], after[1] - before[1])
    return read_pace(done.stdout, request.calls, used)


def read_pace(output: str, calls_per_request: int, processor_seconds: tuple[float, float] | None) -> Pace:
    """Read the line that `request.lua` prints; the processor was had by the server, and by what it started.

    Raises:
        NoAnswer: There were none.
        Unavailable: Some requests failed, so the figures are worth nothing.
    """
    said = json.loads(output.strip().splitlines()[-1])
    if said["refused"] or said["broken"]:
        raise Unavailable(f"under load {said['refused']} answers were errors and {said['broken']} did not come")
    if not said["requests"]:
        raise NoAnswer("no request was answered in a turn, nor in its repetition")
    calls = said["requests"] * calls_per_request
    pace = Pace(calls / said["microseconds"] * 1e6, said["p50"] / 1000, said["p99"] / 1000, None)
    if processor_seconds is None:
        return pace
    return replace(
        pace, processor_us=sum(processor_seconds) / calls * 1e6, beside_us=processor_seconds[1] / calls * 1e6
    )
