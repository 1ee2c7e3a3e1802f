"""Each error of the client program has a status and a name: its own, or its parent's."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from fastapi import Request

import sidecall
from sidecall.http.problems import answer, nearest_known
from sidecall.kernel.core.errors import RequestError, UnknownTool
from sidecall.kernel.core.overload import Overloaded
from tests.kit.asgi import scope_of


def _below(kind: type[RequestError]) -> Iterator[type[RequestError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def _errors_of_the_package() -> list[type[RequestError]]:
    for module in pkgutil.walk_packages(sidecall.__path__, "sidecall."):
        # Clients have no errors of requests, and some are for packages that are not here.
        if not module.name.endswith("__main__") and not module.name.startswith("sidecall.client."):
            importlib.import_module(module.name)
    return [kind for kind in _below(RequestError) if kind.__module__.startswith("sidecall.")]


def test_every_error_of_the_package_has_a_status() -> None:
    """None falls through to that of all errors."""
    kinds = _errors_of_the_package()

    assert len(kinds) >= 18
    assert [kind for kind in kinds if nearest_known(kind) is RequestError] == []


class HiddenTool(UnknownTool):
    """It is there, but not for you."""


Crowded = type("Crowded", (Overloaded,), {})


class Strange(RequestError):
    """Nobody knows this."""


@pytest.mark.parametrize(
    ("error", "status", "kind", "title"),
    [
        (HiddenTool(), 404, "unknown-tool", "There is no such tool, or it is not visible to you."),
        (Crowded("Come back.", retry_after=3), 503, "overloaded", "The server runs as many calls as it may."),
        (Strange(), 400, "bad-request", "The request cannot be served."),
    ],
    ids=["a child", "a child without a docstring", "one that is not known"],
)
async def test_an_error_without_an_entry_is_answered_as_its_parent(
    error: RequestError, status: int, kind: str, title: str
) -> None:
    """With the title that belongs to the name, and its own words as the detail."""
    request = Request({**scope_of("GET", "/tools"), "state": {"request_id": "r1"}})

    response = await answer(request, error)

    assert response.status_code == status
    assert f'"type":"urn:sidecall:problem:{kind}","title":"{title}"'.encode() in bytes(response.body)
    assert f'"detail":"{error.message}"'.encode() in bytes(response.body)


async def test_a_child_keeps_its_parents_headers() -> None:
    """What may be sent again says when."""
    response = await answer(Request(scope_of("GET", "/tools")), Crowded("Come back.", retry_after=3))

    assert response.headers["Retry-After"] == "3"
