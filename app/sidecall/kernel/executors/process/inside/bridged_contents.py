"""The contents of a call's caller, for a tool in a process."""

from typing import Any

from sidecall.kernel.core.context import Caller
from sidecall.kernel.executors.process.inside.channel import Channel
from sidecall.kernel.executors.process.questions import decode_body, encode_body, read_reply
from sidecall.kernel.ports.contents import KeptContent


class BridgedContents:
    """Contents by way of the server, which knows their owner from the call."""

    # Any thread may ask.
    loop = None

    def __init__(self, channel: Channel, call: str) -> None:
        self._channel = channel
        self._call = call

    async def keep(self, body: str | bytes, _caller: Caller, media_type: str, *, is_sent: bool = True) -> str:  # noqa: ARG002
        """Keep a body and return its id; a tool's content always counts as sent.

        Raises:
            ContentNotKept: It is too large, or the caller has no room left.
        """
        return str(await self._ask("keep_content", encode_body(body), media_type))

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Return a caller's content.

        Raises:
            NoSuchContent: There is none, it has expired, or it is another caller's.
        """
        media_type, encoded = await self._ask("get_content", content_id)
        return KeptContent(content_id, caller.tenant, caller.subject, media_type, decode_body(encoded))

    async def _ask(self, name: str, *values: Any) -> Any:
        return read_reply(await self._channel.ask_without_blocking("ask", self._call, [name, *values]))
