"""Two servers behind nginx or Caddy: calls, events and a prefix, while one of them is told to end."""

import asyncio
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvloop

from tests.kit.deployment import has_programs
from tests.kit.proxies import NAME, Proxy, running_caddy, running_nginx
from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving

PROXIES: dict[str, Callable[[Path, Sequence[int]], AbstractContextManager[Proxy]]] = {
    "nginx": running_nginx,
    "caddy": running_caddy,
}
_CLIENTS = 16
# Seconds for which the server that ends still listens.
_GRACE = 2


def run() -> Iterator[Finding]:
    """Drain a server behind each proxy, under calls for ten seconds."""
    yield from _try_all(10.0)


def run_shortly() -> Iterator[Finding]:
    """Do so for three seconds."""
    yield from _try_all(3.0)


def _try_all(seconds: float) -> Iterator[Finding]:
    for name, running in PROXIES.items():
        if has_programs(name):
            with ExitStack() as stack:
                settings = {"SIDECALL_DRAIN_GRACE": str(_GRACE), "SIDECALL_DRAIN_TIMEOUT": "30", "SIDECALL_HOSTS": NAME}
                servers = [stack.enter_context(serving(**settings)) for _ in range(2)]
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                proxy = stack.enter_context(running(folder, [server.port for server in servers]))
                yield uvloop.run(_drain_one(name, proxy, servers, seconds))


async def _drain_one(name: str, proxy: Proxy, servers: Sequence[Server], seconds: float) -> Finding:
    trusted = None if proxy.certificate is None else ssl.create_default_context(cafile=str(proxy.certificate))
    ends: Counter[str] = Counter()
    until = time.monotonic() + seconds
    async with httpx.AsyncClient(verify=trusted or True, trust_env=False, timeout=60) as client:
        seen = _Seen(ends)
        own = [_call(client, proxy.url, {"Host": NAME}, until, seen) for _ in range(_CLIENTS // 2)]
        prefixed = [_call(client, proxy.prefixed_url, {}, until, seen) for _ in range(_CLIENTS // 2)]
        streams = [_stream(client, proxy.prefixed_url, seconds) for _ in range(4)]
        calls = asyncio.gather(*own, *prefixed)
        heard = asyncio.gather(*streams)
        await asyncio.sleep(seconds / 4)
        seen.signalled = servers[0].terminate()
        await calls
        whole = sum(await heard)
    code = await asyncio.to_thread(servers[0].exit_code)
    wrong = {what: count for what, count in ends.items() if what != "success"}
    return Finding(
        "proxied",
        f"{name} in front of two servers, {_CLIENTS} clients for {seconds:g} s, half of them below a prefix, and 4 "
        "streams of events; one server gets SIGTERM",
        "every call and stream is answered, none of them by an error of the proxy; exit 0",
        f"{ends['success']:,} answered, otherwise {wrong or 'none'}; {whole} of 4 streams; exit {code}"
        f"{''.join(_complaints(proxy)) if wrong else ''}",
        not wrong and whole == 4 and code == 0,
    )


@dataclass
class _Seen:
    """What the clients got, and in which phase of the server that ends it was asked for."""

    ends: Counter[str]
    signalled: float | None = None

    def note(self, what: str, began: float) -> None:
        """Count an answer; one that is wrong has its phase."""
        self.ends[what if what == "success" else f"{what} {self._phase(began)}"] += 1

    def _phase(self, began: float) -> str:
        if self.signalled is None:
            return "before the signal"
        after = began - self.signalled
        phase = "before it" if after < 0 else "in the grace" if after < _GRACE else "after the grace"
        return f"sent {after:.3f} s from the signal on, {phase}"


def _complaints(proxy: Proxy) -> Iterator[str]:
    """Name what the proxy has logged of its servers."""
    for line in proxy.log_file.read_text(errors="replace").splitlines():
        if "upstream" in line or '"level":"error"' in line:
            yield f"; {line[:300]}"


async def _call(client: httpx.AsyncClient, url: str, headers: dict[str, str], until: float, seen: _Seen) -> None:
    """Call one after the other, as an agent does that sends nothing twice."""
    while (began := time.monotonic()) < until:
        call = {"name": "pause", "args": {"seconds": 0.05}, "id": "1"}
        try:
            answer = await client.post(f"{url}/tool_calls", json=call, headers=headers)
        except httpx.TransportError as error:
            seen.note(type(error).__name__, began)
            continue
        is_ours = answer.status_code == httpx.codes.OK and "json" in answer.headers.get("content-type", "")
        said = answer.json().get("status", "") if is_ours else f"{answer.status_code} {answer.text[:80]!r}"
        seen.note(said, began)


async def _stream(client: httpx.AsyncClient, url: str, seconds: float) -> bool:
    """Return whether the events of a call that lasts most of the trial end with its answer."""
    call = {"name": "pause", "args": {"seconds": seconds * 0.75}, "id": "1"}
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", f"{url}/tool_calls", json=call, headers=headers) as answer:
        return "event: message" in [line async for line in answer.aiter_lines()]
