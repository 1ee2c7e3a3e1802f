"""Share files between all workers of a server."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from sidecall.composition.features import list_tables, load_features
from sidecall.features.ledger.opening import IN_MEMORY, Writers, list_files
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.settings import Settings
from sidecall.storage.sqlite.shared_writer import SharedWriter

logger = logging.getLogger("sidecall")


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
