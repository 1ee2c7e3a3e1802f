"""Pins: what an operator has accepted of other servers' tools."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json

from sidecall.features.mcp_client.link import ListedTool
from sidecall.kernel.core.errors import SidecallError
from sidecall.loading.atomic_write import hold_alone, replace_text


class InvalidPins(SidecallError):
    """The file of pins cannot be used."""


class ToolsNotWaiting(Exception):
    """Some tools do not wait to be accepted, or not as they were seen; none of them where nothing waits at all."""

    def __init__(self, tools: Sequence[str]) -> None:
        super().__init__(", ".join(tools))
        self.tools = tools


class WaitingTool(BaseModel, defer_build=True):
    """A tool that says something else than what was accepted, or that was not there before."""

    model_config = ConfigDict(frozen=True)

    hash: str
    description: str = ""
    shape: str = ""
    schemas: list[Any] = []
    titles: list[str | None] | None = None


class AcceptedTool(BaseModel, defer_build=True):
    """What was accepted in words; with `schema_only` its description may change, and models read the one here."""

    model_config = ConfigDict(frozen=True)

    description: str
    shape: str
    schemas: list[Any] = []
    # None for tools that were accepted before descriptions were kept.
    titles: list[str | None] | None = None
    schema_only: bool = False


class Pins(BaseModel, defer_build=True):
    """The hashes that are accepted, and what waits for an operator, by server and tool."""

    accepted: dict[str, dict[str, str]] = {}
    waiting: dict[str, dict[str, WaitingTool]] = {}
    # Missing for tools accepted by earlier versions, until they are seen again.
    texts: dict[str, dict[str, AcceptedTool]] = {}

    def compare(self, server: str, listed: Iterable[ListedTool]) -> frozenset[str]:
        """Note a server's list, and return which tools have to wait; none does the first time."""
        tools = {tool.name: tool for tool in listed}
        if server not in self.accepted:
            self.accepted[server] = {name: tool.fingerprint for name, tool in tools.items()}
        known = self.accepted[server]
        texts = self.texts.setdefault(server, {})
        changed = {}
        for name, tool in tools.items():
            schemas = [tool.input_schema, tool.output_schema]
            text, titles = texts.get(name), [tool.title, tool.annotations.title]
            is_retitled = text is not None and text.titles not in (None, titles)
            if known.get(name) == tool.fingerprint and not is_retitled:
                texts[name] = AcceptedTool(
                    description=tool.description,
                    shape=tool.shape,
                    schemas=schemas,
                    titles=titles,
                    schema_only=text is not None and text.schema_only,
                )
            elif text is None or not text.schema_only or text.shape != tool.shape or is_retitled:
                changed[name] = WaitingTool(
                    hash=tool.fingerprint,
                    description=tool.description,
                    shape=tool.shape,
                    schemas=schemas,
                    titles=titles,
                )
        self.waiting.pop(server, None)
        if changed:
            self.waiting[server] = changed
        return frozenset(changed)

    def accept(self, server: str, tool: str, schema_only: bool = False) -> None:
        """Accept a tool as it is now; with `schema_only` later changes of its description are ignored.

        Raises:
            KeyError: The tool does not wait.
        """
        taken = self.waiting[server].pop(tool)
        texts = self.texts.setdefault(server, {})
        self.accepted.setdefault(server, {})[tool] = taken.hash
        texts.pop(tool, None)
        if taken.shape:
            texts[tool] = AcceptedTool(
                description=taken.description,
                shape=taken.shape,
                schemas=taken.schemas,
                titles=taken.titles,
                schema_only=schema_only,
            )
        if not self.waiting[server]:
            del self.waiting[server]

    def accept_all(
        self, server: str, tools: Mapping[str, str | None] | None = None, *, schema_only: bool = False
    ) -> list[str]:
        """Accept tools of a server, and return their names.

        Args:
            server: The server.
            tools: Their names, each with the hash that was seen or None; None for all that wait.
            schema_only: Whether later changes of descriptions are ignored.

        Raises:
            ToolsNotWaiting: One does not wait, or not with that hash; none is accepted then.
        """
        waiting = self.waiting.get(server, {})
        wanted = dict.fromkeys(waiting) if tools is None else tools
        unknown = [
            tool for tool, seen in wanted.items() if tool not in waiting or seen not in (None, waiting[tool].hash)
        ]
        if unknown or not wanted:
            raise ToolsNotWaiting(unknown)
        for tool in list(wanted):
            self.accept(server, tool, schema_only)
        return list(wanted)

    def list_kept_words(self, server: str) -> dict[str, str]:
        """List the accepted descriptions that models read instead of the server's present ones."""
        return {name: text.description for name, text in self.texts.get(server, {}).items() if text.schema_only}

    def describe_change(self, server: str, tool: str) -> str:
        """Describe the changes of a waiting tool, in lines with `-` for accepted and `+` for waiting."""
        new, old = self.waiting[server][tool], self.texts.get(server, {}).get(tool)
        if old is None:
            return new.description
        # The first two lines are headers; each other line has a sign.
        lines = list(unified_diff(_list_lines(old), _list_lines(new), n=0, lineterm=""))[2:]
        changed = [line for line in lines if not line.startswith("@@")]
        return "\n".join(changed) or "What it says of its effects has changed, and no word of these."


def _list_lines(said: WaitingTool | AcceptedTool) -> list[str]:
    titles = [f"title: {title}" for title in said.titles or () if title is not None]
    return [*titles, *said.description.splitlines(), *to_json(said.schemas, indent=1).decode().splitlines()]


class PinFile:
    """The file of pins; changes replace it atomically."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def stamp(self) -> tuple[int, int] | None:
        """A value that changes when the file does; None where there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def read(self) -> Pins:
        """Read the pins; without a file nothing has been accepted.

        Raises:
            InvalidPins: It cannot be read.
        """
        try:
            return Pins.model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return Pins()
        except (OSError, ValidationError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is none that `sidecall mcp-servers` knows"
            raise InvalidPins(f"{self.path} cannot be read: {reason}.") from None

    def change(self, change: Callable[[Pins], object]) -> Pins:
        """Change the pins under a lock, and write the file if they differ.

        Raises:
            InvalidPins: It cannot be read or written.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with hold_alone(self.path):
                pins = self.read()
                before = pins.model_dump_json()
                change(pins)
                if pins.model_dump_json() != before:
                    replace_text(self.path, pins.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise InvalidPins(f"{self.path} cannot be written: {error.strerror}.") from None
        return pins
