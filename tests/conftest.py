"""What tests of every layer start from."""

import asyncio
import gc
import inspect
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import certifi
import httpx
import pytest

from sidecall import BaseTool
from sidecall.loading.modules.tool_imports import tool_folders
from tests.kit.asgi import Passing
from tests.kit.clients import MakeClient
from tests.kit.forked import forked_processes
from tests.kit.virtual_time import VIRTUAL

HAS_FEATURES = find_spec("sidecall.features") is not None
if HAS_FEATURES:
    from tests.kit.whole_server import make_app
else:  # As `make check-kernel` runs the tests of the kernel.
    from tests.kit.kernel_server import make_kernel_app as make_app

__all__ = ["forked_processes"]

_HERE = Path(__file__).parent
# Tests of the kernel that need a feature, or a whole server: files, or tests of a file. Nothing is added to it.
_OF_WHOLE_SERVERS = frozenset(_HERE.joinpath("whole_server.txt").read_text().splitlines())
# A server makes few objects, where each test makes thousands.
_SELDOM = (10_000, 20, 20)
# Seconds; less than the setting `timeout` in pyproject.toml.
_HANGS_AFTER = 200.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take what says that processes which tests start need no coverage."""
    parser.addoption("--measure-no-children", action="store_true", help="measure no coverage of processes")


def pytest_configure(config: pytest.Config) -> None:
    """Heed Ctrl+C and hang-ups, as the processes that tests start then do: a shell's background has them ignored."""
    if config.getoption("--measure-no-children"):
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection() -> None:
    """Let nothing be looked for cycles while it is only loaded."""
    gc.disable()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files of the kernel's tests that need more than the kernel, where there is no more."""
    return None if HAS_FEATURES or str(collection_path.relative_to(_HERE)) not in _OF_WHOLE_SERVERS else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Cancel async tests that hang, before they are given up: what runs them would then wait for them for ever.

    Where there is nothing but the kernel, tests that need more are left out.
    """
    if not HAS_FEATURES:
        out = [item for item in items if item.nodeid.partition("[")[0].removeprefix("tests/") in _OF_WHOLE_SERVERS]
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and inspect.iscoroutinefunction(item.obj)
            and not item.get_closest_marker("virtual_time")
        ):
            item.obj = _cancel_late(item.obj)


def _cancel_late(run: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @wraps(run)
    async def run_for_a_while(**arguments: Any) -> None:
        async with asyncio.timeout(_HANGS_AFTER):
            await run(**arguments)

    return run_for_a_while


def pytest_collection_finish() -> None:
    """Keep Python's collector of cycles from walking through modules and thousands of tests again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_SELDOM)
    gc.enable()


@pytest.fixture(scope="module")
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """Run async tests on asyncio, as the server does; those of modules marked `virtual_time` in no time."""
    return VIRTUAL if request.node.get_closest_marker("virtual_time") else "asyncio"


@pytest.fixture(scope="session", autouse=True)
def _quick_processes(forked_processes: None) -> None:
    """Let no test wait while what a server starts imports what it needs."""


@pytest.fixture(scope="session", autouse=True)
def _few_authorities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let HTTPX trust one authority of all that are known: each new client of it reads them, for 30 ms or more."""
    end = "-----END CERTIFICATE-----\n"
    few = tmp_path_factory.mktemp("authorities") / "one.pem"
    few.write_text("".join(Path(certifi.where()).read_text().partition(end)[:2]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifi, "where", lambda: str(few))
        yield


@pytest.fixture(autouse=True)
def _nothing_asked_for_tools() -> None:
    """Let no test look for tools where an earlier one found some."""
    tool_folders().forget_offering()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder, and forget afterwards what was imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = sys.modules.copy()
    yield tmp_path
    fresh = {name: module for name, module in sys.modules.items() if module is not before.get(name)}
    # All are looked at before any is forgotten: the path of a namespace package is worked out from the one above it.
    for name in [name for name, module in fresh.items() if _lies_in(tmp_path, module)]:
        del sys.modules[name]
    sys.modules.update(before)


def _lies_in(folder: Path, module: ModuleType) -> bool:
    return str(folder) in f"{module!r} {vars(module).get('__path__')}"


@pytest.fixture
def is_door_open() -> bool:
    """Let plain requests take the short way in front of the framework; modules that try both ways override this."""
    return True


@pytest.fixture
async def make_client(
    is_door_open: bool, anyio_backend: Any, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[MakeClient]:
    """Give a function that makes a client of an application with these tools and settings, in this process.

    Where time is virtual no history is written: its thread would keep real time.
    """
    async with AsyncExitStack() as stack:

        async def make(*tools: BaseTool, **settings: Any) -> httpx.AsyncClient:
            if HAS_FEATURES:
                if anyio_backend is VIRTUAL:
                    settings.setdefault("history", "off")
                settings.setdefault("workspace_dir", tmp_path_factory.getbasetemp() / "workspaces" / uuid4().hex)
            app = make_app(tools, **settings)
            if not is_door_open:
                app.add_middleware(Passing)
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            return await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://sidecall"))

        yield make
