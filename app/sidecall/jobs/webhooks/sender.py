"""Send one message over HTTP, to public addresses only."""

import asyncio
import socket
import time
from collections.abc import Sequence

import httpx

from sidecall.jobs.webhooks.addresses import is_public
from sidecall.jobs.webhooks.receivers import Receiver
from sidecall.jobs.webhooks.signing import sign
from sidecall.version import __version__

_TIMEOUT = httpx.Timeout(10.0, connect=5.0)
# Seconds for all of it; a receiver has only to say that it has the message.
_PATIENCE = 20.0
_MOST_ADDRESSES = 3


class NotSent(Exception):
    """The receiver does not have the message; `is_final` says that it never will."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


class Sender:
    """Post signed messages; a host is asked for once, and only an address that was looked at is connected to."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys
        # No proxy, no password of a file, and no connection that was made for another host.
        self._client = httpx.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            timeout=_TIMEOUT,
            limits=httpx.Limits(max_keepalive_connections=0),
            verify=httpx.create_ssl_context(),
        )

    async def close(self) -> None:
        """Close what is open."""
        await self._client.aclose()

    async def send(self, receiver: Receiver, message_id: str, body: bytes) -> None:
        """Post a message.

        Raises:
            NotSent: Nobody says to have it.
        """
        try:
            async with asyncio.timeout(_PATIENCE):
                addresses = await _resolve(receiver)
                status = await self._post(receiver, addresses, message_id, body)
        except TimeoutError:
            raise NotSent("it did not answer in time") from None
        except (httpx.HTTPError, OSError, UnicodeError) as error:
            raise NotSent(f"{type(error).__name__}: {error}") from None
        if not 200 <= status < 300:
            raise NotSent(f"it answered {status}", is_final=status == httpx.codes.GONE)

    async def _post(self, receiver: Receiver, addresses: Sequence[str], message_id: str, body: bytes) -> int:
        """Try one address after the other until one can be connected to, and return the status of the answer."""
        *others, last = addresses
        for address in others:
            try:
                return await self._post_to(address, receiver, message_id, body)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._post_to(last, receiver, message_id, body)

    async def _post_to(self, address: str, receiver: Receiver, message_id: str, body: bytes) -> int:
        url = receiver.url
        headers = {
            "Host": url.netloc.decode("ascii"),
            "Content-Type": "application/json",
            "User-Agent": f"Sidecall/{__version__}",
            **sign(self._keys, message_id, int(time.time()), body),
        }
        # The certificate has to be the host's, whatever address it has.
        request = self._client.build_request(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers=headers,
            extensions={"sni_hostname": receiver.host},
        )
        response = await self._client.send(request, stream=True)
        await response.aclose()  # Unread: it may be of any length.
        return response.status_code


async def _resolve(receiver: Receiver) -> list[str]:
    """Return the addresses of a receiver.

    Raises:
        NotSent: One of them is not public, and the operator has not named it.
        OSError: It has none.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(receiver.host, receiver.port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
    if not receiver.is_private and not all(map(is_public, addresses)):
        raise NotSent("its address is not a public one")
    return addresses[:_MOST_ADDRESSES]
