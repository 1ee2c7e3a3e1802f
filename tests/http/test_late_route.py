"""A route is built when it is first needed, and then does what any other does."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute

from sidecall.http.parameters import LateRoute


def _new_app() -> FastAPI:
    router = APIRouter(route_class=LateRoute)

    @router.get("/doubled/{number}", responses={404: {"description": "There is none."}})
    async def double(number: int) -> int:
        return 2 * number

    app = FastAPI()
    app.router.routes.extend(router.routes)
    return app


async def test_it_is_built_at_its_first_request() -> None:
    """What it is found by is known before."""
    app = _new_app()
    route = app.router.routes[-1]
    assert isinstance(route, LateRoute)
    before = (route.path, route.name, route.methods, "dependant" in vars(route))

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        answers = [(await client.get(path)).status_code for path in ("/doubled/4", "/doubled/x", "/tripled/4")]
        answers.append((await client.post("/doubled/4")).status_code)

    assert before == ("/doubled/{number}", "double", {"GET"}, False)
    assert answers == [200, 422, 404, 405]
    assert "dependant" in vars(route)


def test_the_document_says_of_it_what_it_says_of_others() -> None:
    """To be described, it is built."""
    operation = _new_app().openapi()["paths"]["/doubled/{number}"]["get"]

    assert [parameter["name"] for parameter in operation["parameters"]] == ["number"]
    assert list(operation["responses"]) == ["200", "404", "422"]


def test_what_a_route_does_not_have_is_missed_as_ever() -> None:
    """Built or not."""
    with pytest.raises(AttributeError, match="nothing"):
        _ = _new_app().router.routes[-1].nothing  # type: ignore[attr-defined]


def test_a_route_may_be_built_by_another_thread_meanwhile() -> None:
    """What was missing when it was looked for is found where the other has put it."""
    route = LateRoute("/late", lambda: "late")
    built = route.dependant

    assert route.__getattr__("dependant") is built


def test_a_route_may_be_built_twice_at_once() -> None:
    """By threads that both came before it was; all find the same kind of route, and none a half of one."""
    begin = threading.Barrier(8)

    def build(route: LateRoute) -> list[str]:
        begin.wait(10)
        return [route.dependant.path or "", route.path, route.unique_id, type(route.app).__name__]

    with ThreadPoolExecutor(8) as threads:
        for _ in range(20):
            route = LateRoute("/late", lambda: "late")
            found = list(threads.map(build, [route] * 8))
            assert found == [["/late", "/late", "_lambda__late_get", "function"]] * 8


def test_a_route_that_could_not_be_built_is_built_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files had run out, and something had to be loaded."""
    route = LateRoute("/late", lambda: "late")
    build = APIRoute.__init__

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("Too many open files")

    monkeypatch.setattr(APIRoute, "__init__", fail)
    with pytest.raises(OSError, match="Too many"):
        _ = route.dependant
    monkeypatch.setattr(APIRoute, "__init__", build)

    assert route.dependant.path == "/late"


@pytest.mark.parametrize(
    ("cookie", "read"),
    [
        ("one=1; two=2", {"one": "1", "two": "2"}),
        ('one="1 2"', {"one": "1 2"}),
        (r'one=1; two="\""', {}),
        ('two="' + '\\"' * 15_000 + '"', {}),
    ],
    ids=["plain", "quoted", "escaped", "long"],
)
async def test_cookies_with_escapes_are_not_read(cookie: str, read: dict[str, str]) -> None:
    """The framework reads all cookies for each of its routes, and some Pythons take seconds for those."""
    router = APIRouter(route_class=LateRoute)

    @router.get("/cookies")
    async def tell(request: Request) -> dict[str, str]:
        return request.cookies

    app = FastAPI()
    app.router.routes.extend(router.routes)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        answer = await client.get("/cookies", headers={"Cookie": cookie})

    assert answer.json() == read
