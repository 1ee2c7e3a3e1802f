"""Texts as vectors, from a service with OpenAI's embeddings API."""

import asyncio
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from sidecall.features.vector_stores.index import pack_vector
from sidecall.features.vector_stores.texts import UnreadableFile
from sidecall.kernel.concurrency.pools import PASSAGES
from sidecall.outgoing.clients import guarded_async_client

_AT_ONCE = 64
_MOST_BYTES = 32 * 1024 * 1024
_SECONDS = 30.0
_TRIES = 3
_LONGEST_WAIT = 10.0
_PASSING = (408, 429, 500, 502, 503, 504)


class EmbeddingFailed(UnreadableFile):
    """The service has made no vectors."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "server_error")


@dataclass(frozen=True, slots=True)
class Embeddings:
    """An embeddings service, its model, and the source of its key."""

    url: str
    model: str
    find_key: Callable[[], str | None]

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text, of length one.

        Raises:
            EmbeddingFailed: The service cannot be reached, refuses, or answers with something else.
        """
        host = httpx.URL(self.url)
        named = f"{host.host}:{host.port or (443 if host.scheme == 'https' else 80)}"
        bounds: dict[str, Any] = {"max_bytes": _MOST_BYTES, "max_seconds": _SECONDS, "may_exceed": True}
        found: list[bytes] = []
        try:
            async with guarded_async_client(allow=[named], private=[named], **bounds) as client:
                for start in range(0, len(texts), _AT_ONCE):
                    part = texts[start : start + _AT_ONCE]
                    found += await PASSAGES.run(_read, await self._ask(client, part), len(part))
        except (httpx.HTTPError, httpx.InvalidURL):
            raise EmbeddingFailed("The service that makes embeddings cannot be reached.") from None
        return found

    async def _ask(self, client: httpx.AsyncClient, texts: Sequence[str]) -> Any:
        key = self.find_key()
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        wanted = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        for attempt in range(1, _TRIES + 1):
            response = await client.post(f"{self.url.rstrip('/')}/embeddings", json=wanted, headers=headers)
            if response.is_success:
                return response
            wait = _read_wait(response)
            if attempt == _TRIES or wait is None:
                break
            await asyncio.sleep(wait)
        # Its message may contain the key.
        raise EmbeddingFailed(f"The service that makes embeddings has answered with {response.status_code}.")


def _read_wait(response: httpx.Response) -> float | None:
    after = response.headers.get("Retry-After", "1")
    if response.status_code not in _PASSING or not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3})?", after):
        return None
    return float(after) if float(after) <= _LONGEST_WAIT else None


def _read(response: httpx.Response, count: int) -> list[bytes]:
    try:
        listed = sorted(response.json()["data"], key=lambda it: int(it["index"]))
        vectors = [[float(value) for value in it["embedding"]] for it in listed]
    except (ValueError, KeyError, TypeError, RecursionError):
        vectors = []
    if len(vectors) != count or not all(vector and all(map(math.isfinite, vector)) for vector in vectors):
        raise EmbeddingFailed("The service that makes embeddings has answered with something else.")
    return list(map(pack_vector, vectors))
