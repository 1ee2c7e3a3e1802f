"""Files of a conversation over HTTP, in the shapes of OpenAI's containers."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Workspace, tool
from tests.kit.clients import MakeClient


@tool
def copy(source: str, target: str, workspace: Workspace) -> str:
    """Copy a file."""
    workspace.write_bytes(target, workspace.read_bytes(source))
    return f"See {target}."


@pytest.fixture
async def client(make_client: MakeClient, tmp_path: Path) -> httpx.AsyncClient:
    """Serve a tool that works on files."""
    small = {"workspace_max_bytes": 4096, "workspace_max_file_bytes": 2048, "max_workspaces": 3}
    return await make_client(copy, workspace_dir=tmp_path / "workspaces", **small)


async def send(client: httpx.AsyncClient, path: str, body: bytes = b"a,b\n1,2\n", to: str = "one") -> httpx.Response:
    """Send a file as a form."""
    return await client.post(f"/workspaces/{to}/files", files={"file": (path, body)})


async def test_a_file_is_sent_used_and_fetched(client: httpx.AsyncClient) -> None:
    """A tool finds what a program sent, and the program what the tool made."""
    sent = (await send(client, "in.csv")).json()
    body = {"name": "copy", "args": {"source": "/workspace/in.csv", "target": "/workspace/out/b.csv"}, "id": "1"}
    message = (await client.post("/tool_calls", json=body, headers={"Sidecall-Conversation": "one"})).json()
    (made,) = message["artifact"]["files"]
    content = await client.get(made["url"])
    listing = (await client.get("/workspaces/one/files")).json()

    assert abs(sent.pop("created_at") - time.time()) < 600
    assert sent == {
        "id": "cfile_aW4uY3N2",
        "object": "container.file",
        "container_id": "one",
        "path": "/workspace/in.csv",
        "bytes": 8,
        "source": "user",
        "url": "/workspaces/one/files/cfile_aW4uY3N2/content",
    }
    assert (content.status_code, content.content) == (200, b"a,b\n1,2\n")
    assert [(it["path"], it["source"]) for it in listing["data"]] == [
        ("/workspace/in.csv", "user"), ("/workspace/out/b.csv", "assistant"),
    ]  # fmt: skip
    assert (listing["object"], listing["has_more"], listing["last_id"]) == ("list", False, made["id"])
    assert (await client.get(f"/workspaces/one/files/{made['id']}")).json() == made


async def test_a_list_has_pages(client: httpx.AsyncClient) -> None:
    """In the order of paths."""
    for name in ("c", "a", "b"):
        await send(client, name)
    first = (await client.get("/workspaces/one/files?limit=2")).json()
    rest = (await client.get(f"/workspaces/one/files?after={first['last_id']}")).json()

    assert [it["path"] for it in first["data"]] == ["/workspace/a", "/workspace/b"]
    assert first["has_more"]
    assert [it["path"] for it in rest["data"]] == ["/workspace/c"]
    assert not rest["has_more"]


@pytest.mark.parametrize(
    ("wanted", "status", "said", "body"),
    [
        ({}, 200, None, b"0123456789"),
        ({"Range": "bytes=2-4"}, 206, "bytes 2-4/10", b"234"),
        ({"Range": "bytes=-3"}, 206, "bytes 7-9/10", b"789"),
        ({"Range": "bytes=10-"}, 416, "bytes */10", None),
    ],
)
async def test_some_bytes_can_be_had(
    client: httpx.AsyncClient, wanted: dict[str, str], status: int, said: str | None, body: bytes | None
) -> None:
    """And nothing of what one has."""
    file = (await send(client, "a", b"0123456789")).json()

    answer = await client.get(file["url"], headers=wanted)
    again = await client.get(file["url"], headers={"If-None-Match": answer.headers.get("ETag", "")})

    assert (answer.status_code, answer.headers.get("Content-Range")) == (status, said)
    assert body is None or (answer.content, again.status_code) == (body, 304)


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("page.html", "application/octet-stream"),
        ("image.svg", "application/octet-stream"),
        ("page.xhtml", "application/octet-stream"),
        ("data.csv.gz", "application/octet-stream"),
        ("unknown", "application/octet-stream"),
        ("image.png", "image/png"),
        ('"; a=b é.txt', "text/plain"),
    ],
)
async def test_no_browser_shows_a_file(client: httpx.AsyncClient, name: str, media_type: str) -> None:
    """It is saved, no matter what it is called."""
    form = {"file": ("sent", b"<script>alert(1)</script>")}
    file = (await client.post("/workspaces/one/files", files=form, data={"path": name})).json()

    headers = (await client.get(file["url"])).headers

    assert headers["Content-Type"] == media_type
    assert headers["Content-Disposition"].startswith("attachment; filename*=UTF-8''")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


async def test_what_is_kept_as_a_content_becomes_a_file(client: httpx.AsyncClient) -> None:
    """By its id."""
    kept = (await client.post("/contents", content=b"kept")).json()
    body = {"file_id": kept["id"], "path": "from/contents.txt"}

    file = (await client.post("/workspaces/one/files", json=body)).json()

    assert file["path"] == "/workspace/from/contents.txt"
    assert (await client.get(file["url"])).content == b"kept"


async def test_files_and_workspaces_are_deleted(client: httpx.AsyncClient) -> None:
    """And are unknown from then on."""
    file = (await send(client, "a")).json()
    place = f"/workspaces/one/files/{file['id']}"

    deleted = await client.delete(place)
    assert deleted.json() == {"id": file["id"], "object": "container.file.deleted", "deleted": True}
    assert [(await client.request(method, place)).status_code for method in ("GET", "DELETE")] == [404, 404]
    assert (await client.get("/workspaces/one/files")).json()["data"] == []
    assert (await client.delete("/workspaces/one")).status_code == 204
    assert [(await client.request(method, "/workspaces/one")).status_code for method in ("GET", "DELETE")] == [404, 404]


async def test_a_workspace_says_when_it_expires(client: httpx.AsyncClient) -> None:
    """As OpenAI's containers do."""
    await send(client, "a")

    shown = (await client.get("/workspaces/one")).json()

    assert (shown["id"], shown["object"], shown["status"]) == ("one", "container", "running")
    assert shown["expires_after"] == {"anchor": "last_active_at", "minutes": 20}
    assert shown["expires_at"] - shown["last_active_at"] == 1200
    assert abs(shown["created_at"] - time.time()) < 600


async def test_a_program_says_how_long(client: httpx.AsyncClient) -> None:
    """Of a workspace that may not be there yet."""
    made = (await client.post("/workspaces/new", json={"expires_after": {"minutes": 90}})).json()
    await send(client, "a", to="new")
    kept = (await client.get("/workspaces/new")).json()
    longer = {"anchor": "last_active_at", "minutes": 200}
    changed = (await client.post("/workspaces/new", json={"expires_after": longer})).json()

    assert made["expires_after"] == kept["expires_after"] == {"anchor": "last_active_at", "minutes": 90}
    assert kept["expires_at"] - kept["last_active_at"] == 5400
    assert (changed["expires_after"], changed["created_at"]) == (longer, made["created_at"])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"expires_after": {"minutes": 1441}}, "`expires_after.minutes` is 1440 at most"),
        ({"expires_after": {"minutes": 0}}, "`expires_after.minutes`: Input should be greater than or equal to 1."),
        ({"expires_after": {"anchor": "created_at", "minutes": 1}}, "`expires_after.anchor`: Input should be"),
        ({"name": "x"}, "`expires_after`: Field required."),
        ([], "`body`: Input should be a JSON object. Send "),
    ],
)
async def test_a_time_that_is_none_is_refused(client: httpx.AsyncClient, body: Any, said: str) -> None:
    """With what may be sent."""
    refused = await client.post("/workspaces/one", json=body)

    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(said)


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"files": {"file": ("../a", b"")}}, 422, "invalid-file"),
    ({"files": {"file": ("/etc/passwd", b"")}}, 422, "invalid-file"),
    ({"files": {"file": ("a", b"1" * 2049)}}, 413, "body-too-large"),
    ({"files": {"other": ("a", b"1")}}, 422, "invalid-parameter"),
    ({"files": {"file": ("there", b"1")}, "data": {"path": "there/below"}}, 409, "file-conflict"),
    ({"content": b"x", "headers": {"Content-Type": "multipart/form-data"}}, 422, "invalid-parameter"),
    ({"content": b"x", "headers": {"Content-Type": "text/plain"}}, 415, "unsupported-media-type"),
    ({"json": {"file_id": "none"}}, 404, "unknown-content"),
    ({"json": {"path": "a"}}, 422, "invalid-parameter"),
    ({"json": [1]}, 422, "invalid-parameter"),
]


def write_form(*parts: tuple[str, str], before: str = "", after: str = "--") -> bytes:
    """Write a form of parts: what stands in their `Content-Disposition`, and their content."""
    written = [f"--b\r\nContent-Disposition: form-data; {said}\r\n\r\n{body}\r\n" for said, body in parts]
    return f"{before}{''.join(written)}--b{after}".encode()


FILE = ('name="file"; filename="a.txt"', "hello")


@pytest.mark.parametrize(
    ("form", "path"),
    [
        (write_form(FILE, before="For readers of mail.\r\n"), "/workspace/a.txt"),
        (write_form(FILE, after="--\r\nand after it"), "/workspace/a.txt"),
        (write_form(FILE, ('name="path"', "b/c d.txt")), "/workspace/b/c d.txt"),
        (write_form(('name="file"; filename="a.txt"; filename*=UTF-8\'\'b.txt', "hello")), "/workspace/a.txt"),
    ],
    ids=["text before it", "text after it", "with a path", "with two names"],
)
async def test_a_form_is_read_as_it_may_be_written(client: httpx.AsyncClient, form: bytes, path: str) -> None:
    """By any program."""
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    sent = (await client.post("/workspaces/one/files", content=form, headers=headers)).json()

    assert (sent["path"], sent["bytes"]) == (path, 5)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (write_form(FILE, FILE), "`file` came 2 times; send it once."),
        (write_form(FILE, *[('name="path"', "x")] * 2), "`path` came 2 times; send it once."),
        (write_form(FILE, ('name="paht"', "x")), "The form has a field 'paht'; it takes `file` and `path`."),
        (write_form(("name=\"file\"; filename*=UTF-8''b.txt", "x")), "The part `file` of the form has no `filename`"),
        (write_form(FILE, after=""), "The form is cut off"),
        (write_form(("filename=x", "x")), 'The form cannot be read: The Content-Disposition header field "name" must'),
        (b"", "The form has no `file`."),
    ],
    ids=["two files", "two paths", "unknown field", "one name of another kind", "cut off", "no name", "empty"],
)
async def test_a_form_that_says_two_things_is_refused(client: httpx.AsyncClient, form: bytes, said: str) -> None:
    """Rather than one of them chosen in silence."""
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    refused = await client.post("/workspaces/one/files", content=form, headers=headers)

    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(said)


@pytest.mark.parametrize(("sent", "status", "problem"), REFUSED)
async def test_what_cannot_be_a_file_is_refused(
    client: httpx.AsyncClient, sent: dict[str, Any], status: int, problem: str
) -> None:
    """With a problem that says why."""
    await send(client, "there")

    refused = await client.post("/workspaces/one/files", **sent)

    assert (refused.status_code, refused.json()["type"]) == (status, f"urn:sidecall:problem:{problem}")


async def test_a_full_workspace_takes_no_more(client: httpx.AsyncClient) -> None:
    """Nor does a server that has as many as it may."""
    answers = [(await send(client, str(number), b"1" * 2000)).status_code for number in range(3)]
    others = [await send(client, "a", b"1", to=str(number)) for number in range(3)]

    assert answers == [200, 200, 429]
    assert [answer.status_code for answer in others] == [200, 200, 503]
    assert others[2].json()["type"] == "urn:sidecall:problem:too-many-workspaces"


@pytest.mark.parametrize("file_id", ["none", "cfile_", "cfile_Li4", "cfile_L2V0Yy9wYXNzd2Q", "cfile_YS9iLnR4dA=="])
async def test_an_id_that_is_none_is_unknown(client: httpx.AsyncClient, file_id: str) -> None:
    """Also where it stands for a path that leads out."""
    await send(client, "a")

    answer = await client.get(f"/workspaces/one/files/{file_id}/content")

    assert (answer.status_code, answer.json()["type"]) == (404, "urn:sidecall:problem:unknown-file")


async def test_a_file_that_a_program_made_too_large_is_read_in_parts(client: httpx.AsyncClient, tmp_path: Path) -> None:
    """Since nobody held the program back."""
    await send(client, "a.txt")
    (file,) = (tmp_path / "workspaces").rglob("a.txt")
    file.write_bytes(b"x" * 2049)
    place = "/workspaces/one/files/cfile_YS50eHQ/content"

    whole = await client.get(place)
    part = await client.get(place, headers={"Range": "bytes=0-9"})

    assert (whole.status_code, part.status_code, part.content) == (413, 206, b"x" * 10)
