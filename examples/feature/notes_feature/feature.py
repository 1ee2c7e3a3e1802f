"""Count the calls of each tool, show the counts, and remind models of notes that an operator has set."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from sidecall.feature import Built, Feature, Host, Place, Route, Stage
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.overload import StoreUnavailable

COUNTS: Counter[str] = Counter()


class NotesSettings(BaseSettings):
    """Read from `SIDECALL_NOTES_TEXT` and `SIDECALL_NOTES_FILE`."""

    model_config = SettingsConfigDict(env_prefix="SIDECALL_")

    notes_text: str = Field(default="", description="A sentence that is added to each answer.")
    notes_file: Path | None = Field(default=None, description="Where this server's counts are written at the end.")


def build(host: Host) -> Built:
    """Make the step that calls take, and a row of the status."""
    text = host.settings.notes_text

    async def count(invocation: Invocation) -> None:
        COUNTS[invocation.tool.name] += 1
        with suppress(StoreUnavailable):  # A call is worth more than its count.
            await host.ledger.database.write("notes_add", invocation.tool.name)
        if text and invocation.message is not None and isinstance(invocation.message.content, str):
            invocation.message.content += f"\n\n{text}"

    stages = [Stage(Place.ANNOTATE, count)]
    return Built(stages=stages, status={"calls": COUNTS.total, "tools": lambda: len(host.registry.names)})


@asynccontextmanager
async def run(host: Host) -> AsyncIterator[None]:
    """Write the counts down when the server ends."""
    COUNTS.clear()
    yield
    if host.settings.notes_file is not None:
        lines = [f"{name} {count}\n" for name, count in sorted(COUNTS.items())]
        host.settings.notes_file.write_text("".join(lines))


FEATURE = Feature(
    name="notes",
    routes=(Route("GET", "/notes", "notes_feature.routes:list_counts", "server:operate"),),
    commands={"notes": "notes_feature.cli:notes"},
    tables="notes_feature",
    settings=NotesSettings,
    build=build,
    run=run,
)
