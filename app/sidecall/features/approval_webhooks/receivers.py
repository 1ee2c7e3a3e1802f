"""The receivers of webhooks about approvals, which an operator names by their whole addresses."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from sidecall.features.calls.errors import CallbackRefused
from sidecall.features.webhooks.receivers import Receiver, read_receiver

_LEFT_OUT = "SIDECALL_APPROVAL_WEBHOOKS does not name its receiver any more"


class NamedReceivers:
    """The named receivers of one server, each known by a hash: an address may have a secret in it.

    Their names may lead to private addresses, since no one but the operator writes them.
    """

    def __init__(self, urls: Iterable[str]) -> None:
        """Read the addresses.

        Raises:
            CallbackRefused: One is none.
        """
        self._receivers = {name_receiver(url): replace(read_receiver(url), is_private=True) for url in urls}

    def __bool__(self) -> bool:
        return bool(self._receivers)

    @property
    def names(self) -> tuple[str, ...]:
        """The hashes."""
        return tuple(self._receivers)

    @property
    def origins(self) -> tuple[str, ...]:
        """Their schemes, hosts and ports, which may be logged."""
        found = (receiver.url for receiver in self._receivers.values())
        return tuple(dict.fromkeys(str(url.copy_with(raw_path=b"/")).rstrip("/") for url in found))

    def find(self, name: str) -> Receiver:
        """Return a receiver.

        Raises:
            CallbackRefused: It is not named any more.
        """
        receiver = self._receivers.get(name)
        if receiver is None:
            raise CallbackRefused(_LEFT_OUT)
        return receiver


def name_receiver(url: str) -> str:
    """Return what an address is known by in the store."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]
