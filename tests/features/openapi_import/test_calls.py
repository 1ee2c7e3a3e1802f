"""Calls reach a real service as its document has it, and models read what it answers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI, Response

from sidecall import ForwardedHeader, Secret, from_openapi
from sidecall.features.openapi_import import requests
from sidecall.features.openapi_import.from_openapi import OpenAPIToolkit
from tests.features.openapi_import.pets import PIXEL, app, serving
from tests.kit.clients import MakeClient
from tests.kit.on_loop import listing_calls_on_loop
from tests.kit.serving import serving_app


@pytest.fixture(scope="module")
def pets() -> Iterator[str]:
    """Serve the pets, and give their address."""
    with serving() as url:
        yield url


def offer(pets: str, **options: Any) -> OpenAPIToolkit:
    """Make the tools of the service."""
    return from_openapi(app.openapi(), base_url=pets, private=True, **options)


async def call(make_client: MakeClient, kit: OpenAPIToolkit, name: str, /, **args: Any) -> dict[str, Any]:
    """Make one call over HTTP, and return its message."""
    client = await make_client(*kit.get_tools())
    answer = await client.post("/tool_calls", json={"name": name, "args": args}, headers={"X-Pets": "of-ann"})
    message: dict[str, Any] = answer.json()
    return message


@pytest.mark.parametrize(
    ("name", "args", "content"),
    [
        (
            "pets_get",
            {"pet_id": "b c", "colours": ["red", "gr&en"], "limit": 3, "x-trace": "t1", "visit": "v1"},
            '{"pet_id":"b c","colours":["red","gr&en"],"limit":3,"trace":"t1","visit":"v1"}',
        ),
        (
            "pets_get",
            {"pet_id": "ä"},
            '{"pet_id":"ä","colours":null,"limit":10,"trace":null,"visit":null}',
        ),
        (
            "pets_put",
            {"name": "old", "name_body": "Rex", "young": [{"name": "Pup", "young": [{"name": "Pip"}]}]},
            '{"path":"old","body":{"name":"Rex","age":1,"young":[{"name":"Pup","age":1,"young":[{"name":"Pip",'
            '"age":1,"young":[]}]}]}}',
        ),
        ("send_form", {"name": "a&b", "kinds": ["x", "y"]}, '{"name":"a&b","kinds":["x","y"]}'),
        (
            "send_photo",
            {"title": "Rex", "photo": "data:image/png;base64,aGk="},
            '{"title":"Rex","size":2,"text":"hi","type":"image/png"}',
        ),
        (
            "send_photo",
            {"title": "Rex", "photo": "words"},
            '{"title":"Rex","size":5,"text":"words","type":"application/octet-stream"}',
        ),
        ("pets_delete", {"pet_id": "7"}, "Done: 204 No Content, without a body."),
        ("get_text", {}, "plain words"),
        ("get_old", {}, "plain words"),
    ],
)
async def test_arguments_go_where_the_document_says(
    make_client: MakeClient, pets: str, name: str, args: dict[str, Any], content: str
) -> None:
    """Into the path, the query, headers, cookies, JSON, forms and parts; the answer is compact."""
    message = await call(make_client, offer(pets), name, **args)

    assert (message["status"], message["content"]) == ("success", content)


async def test_images_are_shown_and_other_files_kept(make_client: MakeClient, pets: str) -> None:
    """A model sees the one, and reads where the other is."""
    client = await make_client(*offer(pets).get_tools())

    photo = (await client.post("/tool_calls", json={"name": "get_photo", "args": {}})).json()
    archive = (await client.post("/tool_calls", json={"name": "get_archive", "args": {}})).json()["content"]

    assert photo["content"] == [{"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}]
    assert len(PIXEL) == 8
    assert archive.startswith("A file of the type application/zip, 2 bytes, kept at /contents/")
    assert (await client.get(archive.rpartition(" ")[2].rstrip("."))).content == b"PK"


async def test_a_file_that_was_sent_here_goes_on(make_client: MakeClient, pets: str) -> None:
    """By its address, so that no model has to write it out."""
    client = await make_client(*offer(pets).get_tools())
    kept = await client.post("/contents", content=b"hello", headers={"Content-Type": "text/plain"})

    args = {"title": "Rex", "photo": kept.headers["Location"]}
    message = (await client.post("/tool_calls", json={"name": "send_photo", "args": args})).json()

    assert message["content"] == '{"title":"Rex","size":5,"text":"hello","type":"text/plain"}'


@pytest.mark.parametrize(
    ("args", "content", "retryable", "after"),
    [
        ({"status": 404}, 'The service answers 404 Not Found: {"detail":"no such luck"}', False, None),
        ({"status": 503}, 'The service answers 503 Service Unavailable: {"detail":"no such luck"}', True, 7000),
        ({"status": 401}, 'The service answers 401 Unauthorized: {"detail":"no such luck"}', False, None),
    ],
)
async def test_an_error_of_the_service_is_one_of_the_call(
    make_client: MakeClient, pets: str, args: dict[str, Any], content: str, retryable: bool, after: int | None
) -> None:
    """With its status and its words."""
    message = await call(make_client, offer(pets), "fail", **args)

    error = message["response_metadata"]["error"]
    assert (message["status"], message["content"]) == ("error", content)
    assert (error["kind"], error["retryable"], error["retry_after_ms"]) == ("tool_error", retryable, after)


async def test_nobody_is_led_elsewhere(make_client: MakeClient, pets: str) -> None:
    """Neither by the service nor by an argument that would change the path."""
    kit = offer(pets)

    away = await call(make_client, kit, "get_away")
    up = [await call(make_client, kit, "pets_get", pet_id=text) for text in ("..", ".", "")]

    assert away["content"].startswith("The service answers 307 Temporary Redirect: It leads to http://elsewhere")
    assert [message["status"] for message in up] == ["error"] * 3


async def test_only_the_service_itself_is_reached(make_client: MakeClient, pets: str) -> None:
    """And not even that where its address is not public and nobody has said so; nor one that is away."""
    public = from_openapi(app.openapi(), base_url=pets)
    gone = from_openapi(app.openapi(), base_url="http://127.0.0.1:9", private=True)

    refused, away = [await call(make_client, kit, "get_text") for kit in (public, gone)]

    assert refused["content"].startswith("Refused:")
    assert away["content"] == "The service cannot be reached. Try again later."


async def test_what_does_not_fit_is_told_to_the_model(make_client: MakeClient, pets: str) -> None:
    """Before anything is sent."""
    kit = offer(pets)

    wrong = await call(make_client, kit, "pets_get", pet_id="a", limit="many")
    line = await call(make_client, kit, "pets_get", pet_id="a", **{"x-trace": "a\r\nX-Evil: 1"})

    assert wrong["response_metadata"]["error"]["kind"] == "invalid_arguments"
    assert line["content"] == "x-trace: is sent in a header, and must be one line of ASCII."


@pytest.mark.parametrize(
    ("name", "proof"),
    [
        ("with_bearer", '{"authorization":"Bearer [redacted]","key":null,"query":null}'),
        ("with_basic", '{"authorization":"Basic [redacted]A==","key":null,"query":null}'),
        ("with_key", '{"authorization":null,"key":"[redacted]","query":null}'),
        ("with_query", '{"authorization":null,"key":null,"query":"key=[redacted]"}'),
        ("get_text", "plain words"),
    ],
)
async def test_a_secret_goes_where_its_scheme_says(
    make_client: MakeClient, pets: str, monkeypatch: pytest.MonkeyPatch, name: str, proof: str
) -> None:
    """No other operation sends it, and what comes back of it is masked before a model reads it."""
    monkeypatch.setenv("PETS_TOKEN", "s3:cret")
    kit = offer(pets, auth=Secret("PETS_TOKEN"))

    message = await call(make_client, kit, name)

    assert message["content"] == proof


async def test_a_header_of_the_request_is_handed_on(make_client: MakeClient, pets: str) -> None:
    """To the scheme that it is named for; who sends none is told so."""
    kit = offer(pets, auth={"HTTPBearer": ForwardedHeader("X-Pets")})
    client = await make_client(*kit.get_tools())

    message = await call(make_client, kit, "with_bearer")
    without = await client.post("/tool_calls", json={"name": "with_bearer", "args": {}})

    assert message["content"] == '{"authorization":"Bearer of-ann","key":null,"query":null}'
    assert (without.status_code, without.json()["type"]) == (422, "urn:sidecall:problem:missing-context")
    assert (await call(make_client, kit, "with_key"))["content"] == '{"authorization":null,"key":null,"query":null}'


def describe(where: str, **said: Any) -> dict[str, Any]:
    """Describe a service with one operation, which has one parameter."""
    path = "/echo/{v}" if where == "path" else "/echo"
    parameter = {"name": "v", "in": where, "required": True, "schema": {}, **said}
    operation = {"operationId": "echo", "parameters": [parameter], "responses": {}}
    return {"openapi": "3.1.0", "info": {"title": "Echo", "version": "1"}, "paths": {path: {"get": operation}}}


OBJECT = {"r": 1, "g": "a b"}
STYLES = [
    ("path", {}, "a/b", "path", "/echo/a%2Fb"),
    ("path", {}, [1, "b,c"], "path", "/echo/1,b%2Cc"),
    ("path", {}, OBJECT, "path", "/echo/r,1,g,a%20b"),
    ("path", {"explode": True}, OBJECT, "path", "/echo/r=1,g=a%20b"),
    ("path", {"style": "label"}, 5, "path", "/echo/.5"),
    ("path", {"style": "label"}, [3, 4], "path", "/echo/.3,4"),
    ("path", {"style": "label", "explode": True}, [3, 4], "path", "/echo/.3.4"),
    ("path", {"style": "label", "explode": True}, OBJECT, "path", "/echo/.r=1.g=a%20b"),
    ("path", {"style": "matrix"}, 5, "path", "/echo/;v=5"),
    ("path", {"style": "matrix"}, [3, 4], "path", "/echo/;v=3,4"),
    ("path", {"style": "matrix", "explode": True}, [3, 4], "path", "/echo/;v=3;v=4"),
    ("path", {"style": "matrix", "explode": True}, OBJECT, "path", "/echo/;r=1;g=a%20b"),
    ("query", {}, True, "query", "v=true"),
    ("query", {}, [3, 4], "query", "v=3&v=4"),
    ("query", {"explode": False}, [3, "a,b"], "query", "v=3,a%2Cb"),
    ("query", {}, OBJECT, "query", "r=1&g=a%20b"),
    ("query", {"explode": False}, OBJECT, "query", "v=r,1,g,a%20b"),
    ("query", {"style": "spaceDelimited", "explode": False}, [3, 4], "query", "v=3%204"),
    ("query", {"style": "pipeDelimited", "explode": False}, [3, 4], "query", "v=3|4"),
    ("query", {"style": "deepObject"}, {"a": {"b": [1]}}, "query", "v%5Ba%5D%5Bb%5D%5B0%5D=1"),
    ("query", {"allowReserved": True}, "a/b:c", "query", "v=a/b:c"),
    ("query", {"schema": None, "content": {"application/json": {"schema": {}}}}, OBJECT, "query", None),
    ("header", {"name": "X-V"}, [3, 4], "headers", {"x-v": "3,4"}),
    ("header", {"name": "X-V", "explode": True}, OBJECT, "headers", {"x-v": "r=1,g=a b"}),
    ("cookie", {}, "a b", "cookie", "v=a%20b"),
    ("cookie", {"explode": False}, [3, 4], "cookie", "v=3,4"),
]


@pytest.mark.parametrize(("where", "said", "value", "part", "written"), STYLES)
async def test_each_style_is_written_as_openapi_has_it(
    pets: str, where: str, said: dict[str, Any], value: Any, part: str, written: Any
) -> None:
    """As the tables of its specification show."""
    (echo,) = from_openapi(describe(where, **said), base_url=pets, private=True).get_tools()

    came = json.loads(await echo.ainvoke({said.get("name", "v"): value}))[part]

    assert came == (written or "v=%7B%22r%22%3A1%2C%22g%22%3A%22a%20b%22%7D")


def _make_counting_service(_url: str) -> FastAPI:
    """Answer with numbers, written with blanks."""
    service = FastAPI()

    @service.get("/ones/{count}", operation_id="list_ones")
    def list_ones(count: int) -> Response:
        return Response(json.dumps([1] * count), media_type="application/json")

    return service


@pytest.mark.parametrize(
    ("count", "begins", "on_loop"),
    [
        pytest.param(10, "[1,1,", ["write_compact"], id="few"),
        pytest.param(100_000, "[1,1,", [], id="many, in a thread"),
        pytest.param(300_000, "[1, 1,", [], id="more than may be parsed"),
    ],
)
async def test_a_long_answer_holds_nobody_up(
    make_client: MakeClient, count: int, begins: str, on_loop: list[str]
) -> None:
    """It is written compactly elsewhere, or left as it is."""
    with serving_app(_make_counting_service) as url:
        kit = from_openapi(_make_counting_service(url).openapi(), base_url=url, private=True)
        with listing_calls_on_loop(requests, "write_compact") as called:
            message = await call(make_client, kit, "list_ones", count=count)

    assert (message["status"], message["content"][: len(begins)]) == ("success", begins)
    assert called == on_loop
