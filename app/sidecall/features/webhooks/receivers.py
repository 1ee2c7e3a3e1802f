"""Receivers of webhooks."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sidecall.features.webhooks.hosts import AllowedHost
from sidecall.kernel.core.errors import CallbackRefused
from sidecall.outgoing.addresses import USUAL_PORTS, parse_url
from sidecall.outgoing.patterns import normalize_host

if TYPE_CHECKING:
    from httpx import URL

_UNSET = (
    "This server tells nobody that calls have ended. Its operator has to name the hosts where it may: "
    "SIDECALL_WEBHOOK_HOSTS=hooks.example.com, with SIDECALL_WEBHOOK_SECRET."
)
_NO_URL = "`callback_url` is a URL such as https://hooks.example.com/calls, without a name, a password or a #."


@dataclass(frozen=True, slots=True)
class Receiver:
    """A parsed URL of a receiver.

    `is_private` is true when the operator has named its exact address, so that it need not be public.
    """

    url: "URL"
    host: str
    port: int
    is_private: bool


class AllowedHosts:
    """The allowed hosts of one server."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._hosts = [AllowedHost.parse(entry) for entry in entries]

    def __bool__(self) -> bool:
        return bool(self._hosts)

    def find(self, text: str) -> Receiver:
        """Return the receiver of a URL.

        Raises:
            CallbackRefused: The URL is invalid, or its host is not allowed.
        """
        if not self._hosts:
            raise CallbackRefused(_UNSET)
        receiver = read_receiver(text)
        scheme, host, port = receiver.url.scheme, receiver.host, receiver.port
        allowed = next((it for it in self._hosts if it.covers(scheme, host, port)), None)
        if allowed is None:
            raise CallbackRefused(
                f"This server does not tell {scheme}://{host}:{port} that calls have ended. Its operator names the "
                "hosts where it may with SIDECALL_WEBHOOK_HOSTS."
            )
        return replace(receiver, is_private=allowed.is_address)


def read_receiver(text: str) -> Receiver:
    """Return the receiver of a URL, which is not allowed to be private.

    Raises:
        CallbackRefused: The URL is invalid.
    """
    url = _read_url(text)
    host = normalize_host(url.raw_host.decode("ascii"))
    if not host or url.scheme not in USUAL_PORTS or url.userinfo or url.fragment:
        raise CallbackRefused(_NO_URL)
    port = url.port or USUAL_PORTS[url.scheme]
    if url.host.endswith("."):  # Not every resolver knows such names, and no certificate has one.
        url = url.copy_with(host=host)
    return Receiver(url, host, port, is_private=False)


def _read_url(text: str) -> "URL":
    try:
        return parse_url(text)
    except ValueError:
        raise CallbackRefused(_NO_URL) from None
