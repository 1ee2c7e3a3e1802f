"""What runs beside calls ends with its server, also where a part of it fails to."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sidecall import Registry, tool
from sidecall.composition.local_pipeline import build_pipeline
from sidecall.features.approvals.recovery import OrphanRecovery
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.audit.auditor import Auditor
from sidecall.features.credentials.resume import SignInWaits
from sidecall.features.history.history import History
from sidecall.features.history.sql_store import SqlBlocks
from sidecall.features.jobs.jobs import Jobs, Retention
from sidecall.features.jobs.recovery import JobReconciler
from sidecall.features.jobs.runner import Runner
from sidecall.features.ledger.sql_ledger import DatabaseLedger
from sidecall.features.mcp_client.upstream import Upstream
from sidecall.features.processes.executor import ProcessExecutor
from sidecall.features.sandbox.feature import LateSandboxExecutor
from sidecall.features.sandbox.local_sandbox import LocalSandbox
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.per_minute import Minutes
from sidecall.features.vector_stores.stores import VectorStores
from sidecall.features.webhooks.dispatcher import WebhookDispatcher
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from sidecall.main import create_app
from sidecall.settings import Settings
from sidecall.storage.outage import LateSteps

EXECUTORS: list[type[Any]] = [InlineExecutor, ThreadExecutor, ProcessExecutor, LateSandboxExecutor]
PARTS: list[type[Any]] = [
    Jobs, Upstream, WebhookDispatcher, *EXECUTORS, Minutes, History, VectorStores, Auditor, DatabaseLedger,
    CallTelemetry,
]  # fmt: skip
INSIDE: list[type[Any]] = [
    SignInWaits, OrphanRecovery, Runner, Retention, JobReconciler, LocalSandbox, SqlBlocks, SqlApprovals, LateSteps,
]  # fmt: skip


@tool(executor="process")
def work() -> str:
    """Work."""
    return "done"


class Closing:
    """Notes which parts are closed, and has one of them fail."""

    def __init__(self, patch: pytest.MonkeyPatch, parts: list[type[Any]], failing: type[Any], *, closes: bool) -> None:
        self.closed: set[str] = set()
        self.left: list[Callable[[], Awaitable[None]]] = []
        for part in parts:
            patch.setattr(part, "close", self._watch(part, part is failing, closes))

    def _watch(self, part: type[Any], fails: bool, closes: bool) -> Callable[..., Awaitable[None]]:
        close = part.close

        async def watched(self_: Any, *given: Any) -> None:
            self.closed.add(part.__name__)
            if closes or not fails:
                await close(self_, *given)
            else:
                self.left.append(lambda: close(self_, *given))
            if fails:
                raise ConnectionError(f"{part.__name__} cannot be closed")

        return watched


async def _serve(folder: Path, closing: Closing, failing: type[Any]) -> bool:
    """Begin and end; return whether the server had finished for those who ask."""
    store, servers = f"sqlite:///{folder / 'ledger.db'}", '{"mcpServers": {}}'
    settings = Settings(store=store, toolkits=("file_search",), processes=1, mcp_servers=servers)
    app = create_app(settings, Registry([work]))
    with pytest.raises(ConnectionError, match=f"{failing.__name__} cannot be closed"):
        async with app.router.lifespan_context(app):
            assert closing.closed == set()
    for close in closing.left:
        await close()
    finished: bool = app.state.parts.lifecycle.has_finished
    return finished


@pytest.mark.parametrize("failing", [*PARTS, *INSIDE], ids=lambda part: part.__name__)
async def test_all_are_closed_though_one_fails_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: type[Any]
) -> None:
    """What it holds itself, too."""
    closing = Closing(monkeypatch, [*PARTS, *INSIDE], failing, closes=True)

    assert await _serve(tmp_path, closing, failing)
    assert closing.closed == {part.__name__ for part in (*PARTS, *INSIDE)}


@pytest.mark.parametrize("failing", PARTS, ids=lambda part: part.__name__)
async def test_all_others_are_closed_though_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: type[Any]
) -> None:
    """For each of them."""
    closing = Closing(monkeypatch, PARTS, failing, closes=False)

    assert await _serve(tmp_path, closing, failing)
    assert closing.closed == {part.__name__ for part in PARTS}


@pytest.mark.parametrize("failing", [Jobs, DatabaseLedger, ThreadExecutor], ids=lambda part: part.__name__)
async def test_what_failed_in_between_is_told_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: type[Any]
) -> None:
    """The reason why a server ended is not lost behind what it could not close."""
    Closing(monkeypatch, PARTS, failing, closes=True)
    app = create_app(Settings(store=f"sqlite:///{tmp_path / 'ledger.db'}"), Registry())

    with pytest.raises(ConnectionError) as failed:
        async with app.router.lifespan_context(app):
            raise LookupError("before")

    reasons = []
    error: BaseException | None = failed.value
    while error is not None:
        reasons.append(type(error).__name__)
        error = error.__context__
    assert "LookupError" in reasons


@pytest.mark.parametrize("failing", EXECUTORS, ids=lambda part: part.__name__)
async def test_executors_without_a_server_are_all_closed(monkeypatch: pytest.MonkeyPatch, failing: type[Any]) -> None:
    """As the command line has them."""
    registry = Registry([work])
    closing = Closing(monkeypatch, EXECUTORS, failing, closes=True)
    with suppress(ConnectionError):
        async with build_pipeline(registry, Settings(processes=1)) as pipeline:
            assert pipeline is not None

    assert {part.__name__ for part in EXECUTORS} - closing.closed <= {"ProcessExecutor"}  # Which is made when wanted.
