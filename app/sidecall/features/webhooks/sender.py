"""Send one message over HTTP, to public addresses only."""

import asyncio
import sys
import time
from collections.abc import Sequence

import httpx

from sidecall.features.webhooks.queue import NotSent
from sidecall.features.webhooks.receivers import Receiver
from sidecall.features.webhooks.signing import sign
from sidecall.outgoing.bodies import AnswerBounds
from sidecall.outgoing.clients import open_client
from sidecall.outgoing.patterns import OutgoingRefused, parse_hosts
from sidecall.outgoing.rules import OutgoingRules

# Seconds for the whole request; a receiver only has to acknowledge.
_PATIENCE = 20.0
# A host may have several addresses, and the first may be dead.
_TIMEOUT = httpx.Timeout(_PATIENCE, connect=5.0)
# The answer's body is not read: it may be of any length.
_BOUNDS = AnswerBounds(sys.maxsize, _PATIENCE)
_PUBLIC = OutgoingRules(ports=None)
_NAMED = OutgoingRules(private=parse_hosts(["0.0.0.0/0", "::/0"]), ports=None)


class Sender:
    """Post signed messages; a host is resolved once, and only the checked address is connected to."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys
        self._public = open_client(_PUBLIC, _BOUNDS, timeout=_TIMEOUT)
        self._named = open_client(_NAMED, _BOUNDS, timeout=_TIMEOUT)

    async def close(self) -> None:
        """Close open connections."""
        try:
            await self._public.aclose()
        finally:
            await self._named.aclose()

    async def send(self, receiver: Receiver, message_id: str, body: bytes) -> None:
        """Post a message.

        Raises:
            NotSent: The receiver did not confirm it.
        """
        try:
            async with asyncio.timeout(_PATIENCE):
                status = await self._post(receiver, message_id, body)
        except TimeoutError:
            raise NotSent("it did not answer in time") from None
        except OutgoingRefused:
            raise NotSent("its address is not a public one") from None
        except (httpx.HTTPError, OSError, UnicodeError) as error:
            raise NotSent(f"{type(error).__name__}: {error}") from None
        if not 200 <= status < 300:
            raise NotSent(f"it answered {status}", is_final=status == httpx.codes.GONE)

    async def _post(self, receiver: Receiver, message_id: str, body: bytes) -> int:
        headers = {"Content-Type": "application/json", **sign(self._keys, message_id, int(time.time()), body)}
        client = self._named if receiver.is_private else self._public
        async with client.stream("POST", receiver.url, content=body, headers=headers) as response:
            return response.status_code
