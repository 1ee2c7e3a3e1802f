"""What an operator has accepted that tools of other servers say of themselves."""

from collections.abc import Callable, Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from sidecall.core.errors import SidecallError
from sidecall.replacing import hold_alone, replace_text
from sidecall.upstream.listed import ListedTool


class PinsUnfit(SidecallError):
    """The file of pins cannot be used."""


class WaitingTool(BaseModel, defer_build=True):
    """A tool that says something else than what was accepted, or that was not there before."""

    model_config = ConfigDict(frozen=True)

    hash: str
    description: str = ""


class Pins(BaseModel, defer_build=True):
    """The hashes that are accepted, and what waits for an operator, by server and tool."""

    accepted: dict[str, dict[str, str]] = {}
    waiting: dict[str, dict[str, WaitingTool]] = {}

    def compare(self, server: str, listed: Iterable[ListedTool]) -> frozenset[str]:
        """Note what a server lists, and return which of its tools have to wait; none does the first time."""
        tools = {tool.name: tool for tool in listed}
        if server not in self.accepted:
            self.accepted[server] = {name: tool.fingerprint for name, tool in tools.items()}
        known = self.accepted[server]
        changed = {
            name: WaitingTool(hash=tool.fingerprint, description=tool.description)
            for name, tool in tools.items()
            if known.get(name) != tool.fingerprint
        }
        self.waiting.pop(server, None)
        if changed:
            self.waiting[server] = changed
        return frozenset(changed)

    def accept(self, server: str, tool: str) -> None:
        """Accept what a tool says now.

        Raises:
            KeyError: It does not wait.
        """
        self.accepted.setdefault(server, {})[tool] = self.waiting[server].pop(tool).hash
        if not self.waiting[server]:
            del self.waiting[server]


class PinFile:
    """The file in which they are kept; who changes it puts a new one in its place."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def stamp(self) -> tuple[int, int] | None:
        """What changes when the file does; None where there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def read(self) -> Pins:
        """Read it; where there is none, nothing has been accepted.

        Raises:
            PinsUnfit: It cannot be read.
        """
        try:
            return Pins.model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return Pins()
        except (OSError, ValidationError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is none that `sidecall mcp-servers` knows"
            raise PinsUnfit(f"{self.path} cannot be read: {reason}.") from None

    def change(self, change: Callable[[Pins], object]) -> Pins:
        """Change it while nobody else does, and write it where it has changed.

        Raises:
            PinsUnfit: It cannot be read or written.
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
            raise PinsUnfit(f"{self.path} cannot be written: {error.strerror}.") from None
        return pins
