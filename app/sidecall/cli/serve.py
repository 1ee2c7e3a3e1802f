"""sidecall serve: run the server."""

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

import typer
import uvicorn

from sidecall.cli.default_store import choose_store
from sidecall.cli.listening import BACKLOG, find_address, listen, refuse_open, removing, require_pair
from sidecall.composition.access import build_access
from sidecall.composition.features import list_setting_names, load_features
from sidecall.composition.lifespan import read_patience
from sidecall.features.ledger.open_ledger import NO_WRITERS, Writers
from sidecall.features.telemetry.calls import begin_to_log
from sidecall.features.telemetry.log_writer import exit_now, log_last
from sidecall.http.application import format_system_refusal
from sidecall.http.backlog import Backlog
from sidecall.kernel.core.errors import InvalidToolOption, SidecallError
from sidecall.kernel.core.tool import CompiledTool, Finding
from sidecall.kernel.lifecycle import Lifecycle, Peers
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import later
from sidecall.main import create_app
from sidecall.server.certificates import Certificates
from sidecall.server.connection_limits import Connection
from sidecall.server.graceful_shutdown import Server
from sidecall.server.interpreter import settle_in, spare_the_collector
from sidecall.server.request_reader import RequestRoom, room_for
from sidecall.server.signals import INTERRUPTED, REFUSED, START_FAILED, START_REFUSED, leave_on
from sidecall.settings import Settings, unknown_names
from sidecall.terminal.options import (
    AllowEmpty,
    Toolkits,
    Tools,
    load_registry,
    read_settings,
    refuse_empty,
    write_count,
)

logger = logging.getLogger("sidecall")

# Most servers have one process, and no tools of other libraries.
_supervise: Callable[..., int] = later("sidecall.cli.workers:supervise")
_find_unmet: "Callable[[Iterable[CompiledTool]], list[Finding]]" = later("sidecall.compat.cli:find_unmet")
# Libraries whose tools are served as they are: only where one is loaded there are such tools.
_OTHERS = frozenset(("langchain_core", "agents"))
# So that the log's first line stays readable where there are a thousand tools.
_MOST_NAMED = 20


def run_server(**given: Any) -> None:
    """Serve the tools over HTTP, until a signal; None means the environment's value or the default."""
    leave_on(signal.SIGTERM)
    leave_on(signal.SIGINT, code=INTERRUPTED)
    spare_the_collector()
    settings: Settings = read_settings(**given)
    if settings.reload and settings.workers > 1:
        raise InvalidToolOption("--reload works with one worker; leave out --workers.")
    begin_to_log(settings.log_level, settings.log_format, settings.log_redact, settings.log_buffer_bytes)
    leave_on(signal.SIGTERM, end=_leave_unserved)
    leave_on(signal.SIGINT, end=_leave_unserved, code=INTERRUPTED)
    features = load_features(use_entry_points=settings.entry_points)
    for name in unknown_names(os.environ, list_setting_names(features)):
        logger.warning("%s is not a setting of this version and changes nothing", name)
    registry = _prepare(settings)
    # Before the address is printed and the store opened, so that no client connects only to be dropped.
    listen(settings).close()
    with _ending_where_refused():
        refuse_empty(settings, registry)
        settings = choose_store(settings)
    _warn_of_unmet(registry)
    tell = partial(_tell_what_is_served, settings, registry)
    if settings.workers == 1:
        _serve_alone(settings, registry, tell)
    else:
        sys.exit(_supervise(settings, _serve_in_worker, tell))


def _warn_of_unmet(registry: Registry) -> None:
    """Warn of what files written for other libraries use in vain."""
    for tool in registry:
        for text in tool.unmet:
            logger.warning("not done here: %s: %s", tool.source, text)
    if not _OTHERS.isdisjoint(sys.modules):
        for finding in _find_unmet(registry):
            logger.warning("not done here: %s: %s", finding.tool, finding.message)


def _tell_what_is_served(settings: Settings, registry: Registry) -> None:
    logger.info("serving %s: %s", write_count(len(registry), "tool"), name_first(registry.names))
    if settings.port and settings.unix is None:
        scheme = "http" if settings.tls_cert is None else "https"
        logger.info("open %s://%s:%s in a browser", scheme, settings.host, settings.port)


def name_first(names: Sequence[str]) -> str:
    """Name the first twenty, and say how many more there are."""
    left_out = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return (", ".join(names[:_MOST_NAMED]) or "none") + left_out


def _prepare(settings: Settings) -> Registry:
    """Load the tools; errors are logged, since logging has begun."""
    try:
        find_address(settings) if settings.unix is None else None
    except (OSError, UnicodeError) as error:
        logger.error(
            "SIDECALL_HOST (or --host) is %r, which is no address: %s; write one without a port, such as 127.0.0.1, "
            "0.0.0.0 or ::1",
            settings.host,
            error,
        )
        sys.exit(1)
    try:
        refuse_open(settings)
        require_pair(settings)
        build_access(settings)  # Which workers do again, each for itself.
        return load_registry(settings)
    except SidecallError as error:
        logger.error("%s", error.message)
    except OSError as error:
        logger.error("the tools cannot be loaded: %s", format_system_refusal(error))
    sys.exit(1)


@contextmanager
def _ending_where_refused() -> Iterator[None]:
    """Log why the settings cannot be served, and exit."""
    try:
        yield
    except SidecallError as error:
        logger.error("%s", error.message)
        sys.exit(1)


def _serve_alone(settings: Settings, registry: Registry, on_started: Callable[[], None]) -> None:
    try:
        with removing(settings.unix):
            _serve(settings, registry, on_started)
    except SidecallError as error:
        logger.error("%s", error.message)
        sys.exit(REFUSED)


def _serve_in_worker(
    settings: Settings, writers: Writers, sock: socket.socket, on_started: Callable[[], None], peers: Peers
) -> None:
    """Serve in a worker process, which loads the tools itself."""
    leave_on(signal.SIGTERM, signal.SIGINT)
    begin_to_log(settings.log_level, settings.log_format, settings.log_redact, settings.log_buffer_bytes)
    leave_on(signal.SIGTERM, signal.SIGINT, end=exit_now)
    try:
        _serve(settings, load_registry(settings), on_started, sock, writers, peers)
    except SidecallError as error:
        logger.error("%s", error.message)
        sys.exit(START_REFUSED)


def _serve(
    settings: Settings,
    registry: Registry,
    on_started: Callable[[], None],
    sock: socket.socket | None = None,
    writers: Writers = NO_WRITERS,
    peers: Peers | None = None,
) -> None:
    lifecycle = Lifecycle()
    lifecycle.peers, lifecycle.is_operated = peers, True
    room = RequestRoom(settings.max_body_bytes_in_flight, settings.max_body_bytes, Backlog(settings.max_unread_bytes))
    if settings.tls_cert is not None and settings.tls_key is not None:
        lifecycle.certificates = Certificates(settings.tls_cert, settings.tls_key)
    app = create_app(settings, registry, lifecycle, room.unread, writers=writers)
    config = _make_config(settings, app, lifecycle.certificates)
    settle_in()
    most = room_for(settings.max_connections)
    server = Server(config, lifecycle, read_patience(settings), most, room, on_started, is_worker=sock is not None)
    try:
        server.run([sock] if sock else None)
    except (OSError, RuntimeError) as error:
        refusal = format_system_refusal(error)
        if server.started or refusal is None:
            raise
        logger.error("the server cannot start: %s", refusal)
        exit_now(START_FAILED)  # What is half made could not be closed.
    if server.exit_code:
        exit_now(server.exit_code)  # Python would close the file that was changed, and SQLite write to it.
    if not server.started:
        refused = REFUSED if sock is None else START_REFUSED
        sys.exit(refused if lifecycle.is_refused else START_FAILED)


def _make_config(settings: Settings, app: Any = None, certificates: Any = None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        uds=None if settings.unix is None else str(settings.unix),
        ssl_certfile=None if settings.tls_cert is None else str(settings.tls_cert),
        ssl_keyfile=None if settings.tls_key is None else str(settings.tls_key),
        ssl_context_factory=None if certificates is None else certificates.make_context,
        timeout_keep_alive=settings.keep_alive,
        backlog=BACKLOG,
        http=Connection,
        ws="none",
        log_config=None,  # It was set before anything was logged.
        log_level=settings.log_level,
        access_log=settings.log_level == "debug",
        server_header=False,
    )


def _leave_unserved(code: int) -> None:
    """End on a signal, which a file of tools may have sent itself; a start that just ends would be a riddle."""
    log_last("ended by a signal before anything was served")
    exit_now(code)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one. [default: 8000]")] = None,
    unix: Annotated[str | None, typer.Option(help="Unix socket to listen on, in place of host and port.")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="Certificate (PEM) to serve HTTPS with.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its private key (PEM).")] = None,
    tools: Tools = None,
    toolkits: Toolkits = None,
    workers: Annotated[int | None, typer.Option(help="Server processes. [default: 1]")] = None,
    reload: Annotated[bool | None, typer.Option("--reload", help="Load tools again when their files change.")] = None,
    allow_empty: AllowEmpty = None,
) -> None:
    """Serve the tools over HTTP."""
    given = {"host": host, "port": port, "unix": unix, "tools": tools, "toolkits": toolkits, "workers": workers}
    run_server(**given, tls_cert=tls_cert, tls_key=tls_key, reload=reload, allow_empty=allow_empty)
