"""Listeners for notices of other servers, in tests."""

from dataclasses import dataclass, field

from sidecall.storage.notices import NoticeKind


@dataclass
class NoticeLog:
    """Keeps what it hears."""

    heard: list[tuple[NoticeKind, str]] = field(default_factory=list)
    missed: int = 0

    def hear(self, kind: NoticeKind, call_id: str) -> None:
        """Keep a notice."""
        self.heard.append((kind, call_id))

    def miss(self) -> None:
        """Count how often something may have been missed."""
        self.missed += 1
