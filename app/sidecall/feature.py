"""What a feature adds to a server: a package says so in one object, and changes no file of another."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic_settings import BaseSettings

from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.table import ExecutorSettings
from sidecall.kernel.pipeline.stage import Check, FailurePlace, Place, Stage, Step
from sidecall.kernel.ports.observer import CallNotes
from sidecall.kernel.registry import Registry
from sidecall.rest.route_table import Route

__all__ = [
    "Built",
    "CallNotes",
    "Check",
    "FailurePlace",
    "Feature",
    "Host",
    "Place",
    "Route",
    "Stage",
    "Start",
    "run_nothing",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """What is known of a server before anything of it is built."""

    registry: Registry
    server: Any  # the server's settings
    writers: Any = field(default_factory=dict)  # where the processes are asked that write files for several workers
    is_server: bool = False  # whether the process is a server, where no other code opens its files


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """The server that a feature is built for."""

    registry: Registry
    settings: Any  # the feature's own, None where it has none
    server: Any  # the server's settings
    history: Any  # what keeps the calls that have ended
    ledger: Any  # what the server keeps (`sidecall.features.ledger`); the tables of features are in its `database`
    execute: Step  # runs the tool of a call, for steps at `Place.REUSE`
    executing: ExecutorSettings  # what executors are made with
    part: Any = None  # what the feature's own `part` has made


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """What one server gets of a feature once it has started.

    Args:
        stages: Steps of every call, each at its place; `Stage.wanted` keeps them off tools that do not need them.
        checks: What calls have to pass before they are let in.
        observers: What notes how calls end: `begin` when one is let in, `note` when it has ended.
        tools: Tools of the server itself: models may call them, and no list has them.
        executors: What runs tools, by a name of the option `executor`; it may take the place of the kernel's.
        services: What calls get for their tools, by the fields of `ToolResources`.
        status: Rows of `GET /status`, each read on request.
        methods: Ways in which requests prove who sends them, asked after those of the settings. Each is made with the
            authenticator of those, and has `recognize`.
        add_metrics: Adds numbers to the server's `Metrics`.
    """

    stages: Sequence[Stage] = ()
    checks: Sequence[Check] = ()
    observers: Sequence[CallNotes] = ()
    tools: Sequence[CompiledTool] = ()
    executors: Mapping[ExecutorName, Executor] = field(default_factory=dict)
    services: Mapping[str, Any] = field(default_factory=dict)
    status: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    methods: Sequence[Callable[[Any], Any]] = ()
    add_metrics: Callable[[Any], None] = lambda _metrics: None


Build = Callable[[Host], Built]
Run = Callable[[Host], AbstractAsyncContextManager[None]]


def build_nothing(_host: Host) -> Built:
    """Add nothing: for features that are data alone."""
    return Built()


@asynccontextmanager
async def run_nothing(_host: Host) -> AsyncIterator[None]:
    """Open nothing and close nothing: for features that are data alone."""
    yield


@dataclass(frozen=True, kw_only=True, slots=True)
class Feature:
    """One feature: data, and two functions that run when a server is made.

    Args:
        name: Lowercase, also the name of its row in `GET /status`.
        needs: Names of features that have to be there, too.
        options: Options of tools that mean nothing without it. A tool that has one stops the start where it is off.
        parameters: What it fills hidden parameters with, as `Injection.source` has it. Without it they stop the start.
        executors: Where tools run only with it.
        settings_off: Settings of the server that ask for it, each with what holds while it is off, or a function that
            makes that of what was set. One that is set otherwise stops the start.
        can_be_off: Whether `SIDECALL_FEATURES_OFF` may name it. Never where it protects something.
        routes: In the order in which they are matched.
        forms: Models of bodies that its routes read themselves, as `package.module:Model` or the name of several. The
            OpenAPI document describes them.
        mcp_methods: Methods of MCP, as `package.module:function`, loaded with their first request.
        commands: Commands of `sidecall`, as `package.module:function` or `package.module:typer_app`.
        tables: A package with the migrations and statements of what it keeps in the ledger's database. Those of
            Sidecall's own features are found in their folders.
        settings: A class of settings, read from the environment at the start. Its fields are named as their variables
            without `SIDECALL_`, and begin with the feature's name.
        part: Makes what the rest of the server works with of it, such as what keeps the history: a function of a
            `Start`, given as `package.module:function`. It is loaded and runs only where the settings ask for it, and
            before anything is built; `build` and `run` find it in `Host.part`.
        build: Makes what calls take and the status shows. It runs before the server starts; nothing is open yet. Given
            as `package.module:function`, it is loaded and runs only where the settings ask for it.
        run: Opens what the feature needs while the server runs, and closes it at the end, also after errors. It may be
            given in the same way.
        asked: Returns, by the server's settings, whether they ask for what is given as a text. Without it they do where
            one of `settings_off` is set otherwise.
        extra: What `pip install` takes, such as `sidecall[fleet]`, so that what is given as a text can be loaded.
        serves: Returns whether its routes are served, by the server's settings.
    """

    name: str
    needs: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    executors: frozenset[str] = frozenset()
    settings_off: Mapping[str, Any] = field(default_factory=dict)
    can_be_off: bool = True
    routes: tuple[Route, ...] = ()
    forms: tuple[str, ...] = ()
    mcp_methods: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    tables: str | None = None
    settings: type[BaseSettings] | None = None
    part: str | None = None
    build: Build | str = build_nothing
    run: Run | str = run_nothing
    asked: Callable[[Any], bool] | None = None
    extra: str | None = None
    serves: Callable[[Any], bool] = lambda _settings: True
