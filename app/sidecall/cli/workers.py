"""Serve with several processes, which share what is remembered."""

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from sidecall.cli.listening import BACKLOG, listen, removing
from sidecall.composition.features import list_tables, load_features
from sidecall.features.ledger.open_ledger import IN_MEMORY, Writers, list_files
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.server.graceful_shutdown import LAST_STEPS
from sidecall.server.signals import REFUSED
from sidecall.server.supervisor import Supervisor
from sidecall.settings import Settings
from sidecall.storage.sqlite.shared_writer import SharedWriter

logger = logging.getLogger("sidecall")


def supervise(settings: Settings, serve: Callable[..., None], on_started: Callable[[], None]) -> int:
    """Run workers, and return the exit code.

    Args:
        settings: What they serve, and how many there are.
        serve: Serves in one of them, with the settings, the writers, and what `Work` gets.
        on_started: Called once all of them are serving.
    """
    seconds = settings.drain_grace + settings.drain_timeout + LAST_STEPS
    try:
        with sharing_files(settings) as (shared, writers):
            work, sock = partial(serve, shared, writers), listen(settings, BACKLOG)
            with removing(settings.unix):
                supervisor = Supervisor(
                    settings.workers, work, sock, seconds, on_started, silent_after=settings.worker_silent_after
                )
                supervisor.scheme = "http" if settings.tls_cert is None else "https"
                return supervisor.run()
    except StoreUnfit as error:
        logger.error("%s", error.message)
        return REFUSED


@contextmanager
def sharing_files(settings: Settings) -> Iterator[tuple[Settings, Writers]]:
    """Run a process for each file of the settings, and yield settings and writers for the workers.

    What a single process would keep in memory is in temporary files while the workers run, since all of them need it.

    Raises:
        StoreUnfit: There is no place for such files.
    """
    with ExitStack() as stack:
        if settings.store == IN_MEMORY:
            settings = settings.model_copy(
                update={"store": f"sqlite:///{stack.enter_context(_make_folder())}/ledger.db"}
            )
        is_kept, has_files = settings.history != "off", "file_search" in settings.toolkits
        writers, others = {}, list_tables(load_features(use_entry_points=settings.entry_points))
        for path, purpose in list_files(settings.store or IN_MEMORY, history=is_kept, files=has_files):
            writer = SharedWriter(path, replace(purpose, others=others))
            writer.open()
            stack.callback(writer.close)
            writers[purpose.series] = writer.socket
        yield settings, writers


def _make_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="sidecall-", ignore_cleanup_errors=True)
    except OSError as error:
        raise StoreUnfit(
            f"Several workers share what is remembered in a file, and none can be made in a folder for temporary files "
            f"({error.strerror}): name a store in SIDECALL_STORE, set TMPDIR to a folder that can be written, or leave "
            "out --workers."
        ) from error
    logger.info("the workers share what is remembered, in %s, until they end", folder.name)
    return folder
