"""Clients of an application in this process: what the fixture `make_client` gives."""

from collections.abc import Awaitable, Callable

import httpx

MakeClient = Callable[..., Awaitable[httpx.AsyncClient]]
