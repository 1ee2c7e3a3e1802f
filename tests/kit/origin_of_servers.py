"""What a program imports that serves, or runs a command; loaded once, before such programs are forked."""

from importlib import import_module

import sidecall.cli.early
import sidecall.cli.project
import sidecall.main  # noqa: F401  which a command imports that serves
from sidecall.cli.commands import list_commands

# What is loaded where it is needed first.
for _place in (
    *(place.partition(":")[0] for place in list_commands().values()),
    "sidecall.features.contents.json_paths",
    "sidecall.features.fleet.executor",
    "sidecall.features.fleet.run_worker",
    "sidecall.features.telemetry.terminal_lines",
    "sidecall.server.supervisor",
    "sidecall.storage.sqlite.writer_process",
):
    import_module(_place)
