"""Listeners for notifications of other servers, in tests."""

from dataclasses import dataclass, field

from sidecall.storage.notifications import NotificationKind


@dataclass
class NotificationLog:
    """Keeps what it hears."""

    heard: list[tuple[NotificationKind, str]] = field(default_factory=list)
    missed: int = 0

    def hear(self, kind: NotificationKind, call_id: str) -> None:
        """Keep a notification."""
        self.heard.append((kind, call_id))

    def miss(self) -> None:
        """Count how often something may have been missed."""
        self.missed += 1
