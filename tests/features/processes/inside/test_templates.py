"""The tools of all processes are imported once, where copies of what has imported them work like it."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.processes.executor import ProcessExecutor
from sidecall.features.processes.fork_server_process import launch_plainly
from sidecall.kernel.core.tool import CompiledTool
from sidecall.loading.collect import TOOLS_OF
from sidecall.loading.discovery import discover
from tests.features.processes.test_executor_lost import children_of, parent_of
from tests.kernel.executors.conftest import answering
from tests.kit.processes import has_ended

# Each import adds a line to a file; the first is the server's.
TOOLS = """
import os, time
from sidecall import tool

IS_SERVER = os.getpid() == {server}
HERE = {here!r}
with open(HERE + "/imports", "a") as imports:
    imports.write(f"{{os.getpid()}}\\n")
{extra}

@tool(executor="process", timeout=20)
def pid() -> int:
    '''Tell which process it is.'''
    return os.getpid()


@tool(executor="process", timeout=0.2)
def hang() -> None:
    '''Take longer than the deadline.'''
    time.sleep(60)


@tool(executor="process", timeout=20)
def stop_parent() -> None:
    '''Stop what has forked it.'''
    os.kill(os.getppid(), 19)


@tool(executor="process", timeout=20)
def hold(fifo: str) -> str:
    '''Wait until something writes to a file.'''
    with open(fifo) as waited:
        return waited.read()


@tool(executor="process", memory_limit_mb=64)
def take(megabytes: int) -> int:
    '''Take memory.'''
    return len(bytearray(megabytes * 1024**2))


@tool(executor="process")
def draw() -> list:
    '''Draw numbers.'''
    import random
    return [random.random(), DRAW()]
"""
DRAW = "DRAW = lambda: 0"


class Running:
    """Processes with the tools of a file that was just written."""

    def __init__(self, executor: ProcessExecutor, tools: Sequence[CompiledTool], folder: Path) -> None:
        self.executor = executor
        self.tools = {tool.name: tool for tool in tools}
        self._answer = answering(executor)
        self._folder = folder

    async def call(self, name: str, **args: Any) -> Any:
        """Call a tool, and return what the model reads."""
        return (await self._answer(self.tools[name], args)).content

    async def pid(self) -> int:
        """Return the process id of a free process."""
        return int(await self.call("pid"))

    @property
    def imports(self) -> list[int]:
        """The processes that have imported the tools, the server left out."""
        return [int(line) for line in (self._folder / "imports").read_text().split()][1:]


Start = Callable[..., Any]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start processes for tools with some more lines in their module."""

    @asynccontextmanager
    async def run(extra: str = DRAW, processes: int = 2, **options: Any) -> Any:
        file = tmp_path / "once_tools.py"
        file.write_text(TOOLS.format(here=str(tmp_path), extra=extra, server=os.getpid()))
        tools = discover([str(file)])
        executor = ProcessExecutor(processes, TOOLS_OF, **options)
        try:
            await executor.start(tools)
            yield Running(executor, tools, tmp_path)
        finally:
            await executor.close()

    return run


async def test_the_tools_are_imported_once_for_all_processes_and_their_successors(start: Start) -> None:
    """Some at the start, and others after each deadline; one import is the parent of all."""
    async with start(processes=4) as running:
        before = await asyncio.gather(*(running.pid() for _ in range(4)))
        await asyncio.gather(*(running.call("hang") for _ in range(4)))
        after = await asyncio.gather(*(running.pid() for _ in range(4)))

        # One that is quick may answer several.
        assert {*before}.isdisjoint(after)
        assert [parent_of(pid) for pid in after] == running.imports * 4


async def test_what_opens_spans_is_imported_once_for_all_processes(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process opens its own."""
    note = "with open({path!r}, 'a') as file: file.write(f'{{os.getpid()}}\\n')\n"
    imported, opened = (note.format(path=str(tmp_path / name)) for name in ("imported", "opened"))
    (tmp_path / "spans_of_test.py").write_text(f"import os\n{imported}def open_spans():\n    {opened}")
    monkeypatch.syspath_prepend(str(tmp_path))
    async with start(processes=3, traces="spans_of_test:open_spans") as running:
        await asyncio.gather(*(running.pid() for _ in range(3)))
        importers, openers = ((tmp_path / name).read_text().split() for name in ("imported", "opened"))

        assert [*map(int, importers)] == running.imports
        assert len({*openers}) == 3


@pytest.mark.parametrize("imports_once", [True, False])
async def test_the_collector_rests_while_tools_are_imported(start: Start, tmp_path: Path, imports_once: bool) -> None:
    """It would go through what stays, and find next to nothing."""
    note = f"import gc\nwith open({str(tmp_path / 'rests')!r}, 'a') as file: file.write(f'{{gc.isenabled()}} ')\n"
    async with start(note + "DRAW = gc.isenabled", processes=1, imports_once=imports_once) as running:
        assert (tmp_path / "rests").read_text().split()[1:] == ["False"]
        assert (await running.call("draw")).endswith(", true]")


async def test_new_code_is_imported_anew_and_the_old_template_ends_with_its_last_process(
    start: Start, tmp_path: Path
) -> None:
    """A call that runs meanwhile ends in peace."""
    os.mkfifo(tmp_path / "fifo")
    async with start() as running:
        old = running.imports[0]
        slow = asyncio.ensure_future(running.call("hold", fifo=str(tmp_path / "fifo")))
        with await asyncio.to_thread(open, tmp_path / "fifo", "w") as fifo:
            running.executor._pool.renew()
            pid = await running.pid()
            is_kept = not has_ended(old, 0)
            fifo.write("done")

        assert is_kept
        assert parent_of(pid) == running.imports[1]
        assert len(running.imports) == 2
        assert await slow == "done"
        assert has_ended(old)


NOTE = "each tool process imports the tools by itself, which takes time and memory in each: "
OBSTACLES = {
    "thread": (
        "import threading; threading.Thread(target=time.sleep, args=(600,), daemon=True, name='mine').start()",
        "a module has started threads (mine)",
    ),
    "socket": ("import socket; kept = socket.socket()", "a module has opened socket"),
    "file": ("kept = open(HERE + '/data', 'w')", "a module has opened {here}/data"),
    "read": ("kept = open(HERE + '/imports')", "a module has opened {here}/imports"),
    "loop": (
        "import asyncio; kept = asyncio.new_event_loop()",
        "a module has opened anon_inode:[eventpoll], socket",
    ),
    "process": (
        "import subprocess; kept = subprocess.Popen(['sleep', '600'])",
        "a module has started a process",
    ),
    "replaced": (
        "import select; before = select.select; select.select = lambda *given: before(*given)",
        "a module has replaced functions of Python that fork, wait or connect",
    ),
    "end": (
        "len(open(HERE + '/imports').readlines()) == 2 and os.kill(os.getpid(), 9)",
        "the process that imported them for all has ended meanwhile",
    ),
}


@pytest.mark.parametrize(
    ("extra", "options", "imports"),
    [
        (DRAW, {"imports_once": False}, 3),
        # The first is that of the process that cannot be forked.
        (f"if not IS_SERVER: {OBSTACLES['socket'][0]}", {}, 4),
    ],
)
async def test_where_each_imports_them_all_have_done_so_before_the_first_call(
    start: Start, extra: str, options: Mapping[str, bool], imports: int
) -> None:
    """A call that finds none free would wait for it."""
    async with start(extra, processes=3, **options) as running:
        assert len({*running.imports}) == imports


async def test_a_copy_is_forked_by_the_call_that_finds_none_free(start: Start) -> None:
    """There are as many as calls at the same time, up to the number that is set."""
    async with start(processes=3) as running:
        seen = [len(children_of(running.executor))]
        for calls in (1, 2, 5, 1):
            await asyncio.gather(*(running.pid() for _ in range(calls)))
            seen.append(len(children_of(running.executor)))

        assert seen == [1, 1, 2, 3, 3]


@pytest.mark.parametrize(("extra", "reason"), OBSTACLES.values(), ids=OBSTACLES)
async def test_each_process_imports_them_where_a_copy_would_not_do(
    start: Start, caplog: pytest.LogCaptureFixture, tmp_path: Path, extra: str, reason: str
) -> None:
    """The log says why, once; calls are answered as before."""
    async with start(f"if not IS_SERVER: {extra}") as running:
        pid = await running.pid()

        assert pid in running.imports
        assert parent_of(pid) == running.executor.fork_server_pid
    told = [line for line in caplog.messages if line.startswith(NOTE)]
    assert told == [
        f"{NOTE}{reason.format(here=tmp_path)}; SIDECALL_PROCESS_IMPORT=each does the same without this warning"
    ]


HARMLESS = {
    "ended thread": "import threading; one = threading.Thread(target=int); one.start(); one.join()",
    "log": "import logging; kept = logging.FileHandler(HERE + '/log')",
    "null": "kept = open('/dev/null', 'w')",
    "timeout": "import socket; socket.setdefaulttimeout(0.05)",
    "handler": "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "ended process": "import subprocess; subprocess.run(['true'], check=True)",
}


@pytest.mark.parametrize("extra", HARMLESS.values(), ids=HARMLESS)
async def test_what_is_shared_without_harm_is_no_obstacle(
    start: Start, caplog: pytest.LogCaptureFixture, extra: str
) -> None:
    """Nor does it disturb what forks."""
    async with start(f"if not IS_SERVER: {extra}") as running:
        before = await running.pid()
        await running.call("hang")
        after = await running.pid()

        assert [parent_of(after)] == running.imports
        assert before > 0
    assert not [line for line in caplog.messages if line.startswith(NOTE)]


async def test_each_imports_them_where_it_is_set_so(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """And nothing is said about it."""
    async with start(imports_once=False) as running:
        pid = await running.pid()

        assert pid in running.imports
    assert not [line for line in caplog.messages if line.startswith(NOTE)]


async def test_one_that_was_killed_is_replaced(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """Its processes end with it, as does one that runs a call; the log says so."""
    async with start() as running:
        pid, template = await running.pid(), running.imports[0]
        os.kill(template, signal.SIGKILL)
        assert has_ended(pid)
        after = await running.pid()

        assert len(running.imports) == 2
        assert parent_of(after) == running.imports[1]
    assert caplog.messages == [
        "the process that has imported the tools was ended by SIGKILL, as by a limit of memory, and with it those "
        "that run them; another takes its place"
    ]


async def test_a_call_that_ends_while_the_tools_are_imported_holds_no_other_up(start: Start, tmp_path: Path) -> None:
    """Its process is not made any more."""
    os.mkfifo(tmp_path / "fifo")
    waits = """
with open(HERE + "/imports") as imports:
    if len(imports.readlines()) == 3:
        with open(HERE + "/fifo") as waited:
            waited.read()
"""
    async with start(waits) as running:
        await running.pid()
        running.executor._pool.renew()
        late = await running.call("hang")
        calls = [asyncio.ensure_future(running.pid()) for _ in range(2)]
        with await asyncio.to_thread(open, tmp_path / "fifo", "w"):
            pass
        pids = await asyncio.gather(*calls)

        assert late == "Error: hang timed out after 0.2 seconds."
        assert {parent_of(pid) for pid in pids} == {running.imports[1]}


def launch_impatient(
    command: Sequence[str], handed: int, out: int, env: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    """Start a fork server that looks at its templates more often."""
    look = "import sidecall.features.processes.inside.templates as t; t._LOOK = 0.05"
    place = command.index("-c") + 1
    head, _, tail = command[place].partition("; main(")
    return launch_plainly([*command[:place], f"{head}; {look}; main({tail}", *command[place + 1 :]], handed, out, env)


async def test_one_that_stands_still_is_replaced(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """A tool has stopped it; the fork server goes on."""
    async with start(processes=1, launch=launch_impatient) as running:
        first, template = running.executor.fork_server_pid, running.imports[0]
        await running.call("stop_parent")
        await running.call("hang")

        assert await running.pid() > 0
        assert has_ended(template)
        assert running.executor.fork_server_pid == first
    assert caplog.messages == [
        "the process that has imported the tools stands still; it is killed, and another takes its place"
    ]


async def test_the_memory_of_what_was_imported_does_not_count(start: Start) -> None:
    """A tool may take as much as its author says, and no more."""
    async with start("kept = bytearray(256 * 1024**2)\nDRAW = int") as running:
        assert await running.call("take", megabytes=32) == "33554432"
        assert await running.call("take", megabytes=96) != "100663296"


async def test_what_an_import_logs_is_logged_once(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """By the server, beside its own import."""
    async with start("import logging; logging.getLogger('acme').warning('imported by %s', os.getpid())") as running:
        await running.pid()
        logged = [line for line in caplog.messages if line.startswith("imported by")]

        assert logged == [f"imported by {os.getpid()}", f"imported by {running.imports[0]}"]


async def test_processes_draw_different_numbers(start: Start) -> None:
    """Though they are copies."""
    async with start(processes=3) as running:
        drawn = [await running.call("draw") for _ in range(3)]

        assert len(set(drawn)) == 3
