"""OpenAI's own client keeps files here, and finds passages in them."""

import io

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from sidecall import tool
from tests.features.vector_stores.reading.pdfs import write_bomb, write_pdf
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.tools import shipped

module = shipped.load("file_search")
HERONS = ("herons.md", b"# Herons\n\nGrey herons fish in shallow water.\n")
OWLS = ("owls.pdf", write_pdf("Owls hunt at night. They do not fish."))


_BROKEN = (
    b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a\r\nX-Name: b.txt"\r\n\r\nhello\r\n--b--\r\n'
)
_QUERY = "`query`: It is a text, or 1 to 8 texts, each of 1 to 4,096 characters."
_NUMBER = "'a': a number is from -9007199254740992 to 9007199254740992: beyond them not all are told apart"


@pytest.fixture(name="server")
async def serve(make_client: MakeClient) -> httpx.AsyncClient:
    """Give a client of a server with the toolkit."""
    return await make_client(module.file_search, toolkits=("file_search",))


@pytest.fixture
def client(server: httpx.AsyncClient) -> AsyncOpenAI:
    """Give OpenAI's client for it."""
    return AsyncOpenAI(base_url="http://sidecall", api_key="any", http_client=server, max_retries=0)


async def test_files_are_sent(client: AsyncOpenAI) -> None:
    """And listed, read and deleted as OpenAI's documentation has it."""
    herons = await client.files.create(file=HERONS, purpose="assistants")
    owls = await client.files.create(file=OWLS, purpose="user_data")
    assert (herons.filename, herons.bytes, herons.status) == ("herons.md", len(HERONS[1]), "processed")
    assert [it.id async for it in client.files.list(limit=1)] == [owls.id, herons.id]
    assert [it.id async for it in client.files.list(purpose="assistants")] == [herons.id]
    assert (await client.files.retrieve(herons.id)) == herons
    assert (await client.files.content(owls.id)).content == OWLS[1]
    assert (await client.files.delete(herons.id)).deleted
    assert [it.id async for it in client.files.list()] == [owls.id]


async def _fill(client: AsyncOpenAI) -> tuple[str, str, str]:
    herons = await client.files.create(file=HERONS, purpose="assistants")
    owls = await client.files.create(file=OWLS, purpose="user_data")
    store = await client.vector_stores.create(name="birds", file_ids=[herons.id], metadata={"of": "the lake"})
    assert (store.name, store.status, store.file_counts.completed) == ("birds", "completed", 1)
    added = await client.vector_stores.files.create_and_poll(
        owls.id,
        vector_store_id=store.id,
        attributes={"year": 2026, "night": True},
        chunking_strategy={"type": "static", "static": {"max_chunk_size_tokens": 100, "chunk_overlap_tokens": 50}},
    )
    assert (added.status, added.last_error, added.attributes) == ("completed", None, {"year": 2026, "night": True})
    return store.id, herons.id, owls.id


async def test_vector_stores_are_filled_searched_and_deleted(client: AsyncOpenAI) -> None:
    """With attributes and sizes of pieces."""
    store, herons, owls = await _fill(client)
    assert [it.id async for it in client.vector_stores.files.list(store, limit=1)] == [owls, herons]
    assert [it.id async for it in client.vector_stores.list()] == [store]

    found = (await client.vector_stores.search(store, query="where do herons fish?")).data
    assert [it.file_id for it in found] == [herons, owls]
    assert found[0].content[0].text == "# Herons\n\nGrey herons fish in shallow water."
    assert 0 < found[1].score < found[0].score < 1
    some = await client.vector_stores.search(
        store,
        query=["fish", "night"],
        filters={"type": "and", "filters": [{"type": "gte", "key": "year", "value": 2026}]},
        max_num_results=5,
        ranking_options={"ranker": "auto", "score_threshold": 0.1},
        rewrite_query=False,
    )
    assert [it.filename for it in some.data] == ["owls.pdf"]

    assert (await client.vector_stores.files.delete(owls, vector_store_id=store)).deleted
    assert (await client.files.delete(herons)).deleted
    assert (await client.vector_stores.search(store, query="fish")).data == []
    assert (await client.vector_stores.delete(store)).deleted


async def test_the_tool_finds_what_was_sent(client: AsyncOpenAI, server: httpx.AsyncClient) -> None:
    """For the model and its program."""
    _, _, owls = await _fill(client)

    told = (await server.post("/tool_calls", json=write_call("file_search", query="who hunts?"))).json()

    assert told["artifact"]["results"][0] | {"score": 0.5} == {
        "file_id": owls,
        "filename": "owls.pdf",
        "score": 0.5,
        "text": "Owls hunt at night. They do not fish.",
        "attributes": {"year": 2026, "night": True},
    }
    assert told["content"].startswith(f"[1] owls.pdf ({told['artifact']['results'][0]['score']})\nOwls hunt at night.")


async def test_a_bomb_is_told_of_and_the_server_goes_on(client: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what became of it as OpenAI says it."""
    monkeypatch.setattr("sidecall.features.vector_stores.texts.read_pdf.__defaults__", (0.2, 512))
    store = await client.vector_stores.create()

    file = await client.vector_stores.files.upload_and_poll(
        vector_store_id=store.id, file=("bomb.pdf", io.BytesIO(write_bomb(40)))
    )

    assert file.status == "failed"
    assert file.last_error is not None
    assert (file.last_error.code, file.last_error.message) == (
        "invalid_file",
        "The PDF takes more than 0.2 seconds to be read.",
    )
    assert (await client.vector_stores.retrieve(store.id)).file_counts.failed == 1


async def test_a_vector_store_is_changed(client: AsyncOpenAI) -> None:
    """Its name and its metadata, each by itself."""
    store = await client.vector_stores.create(name="birds", metadata={"of": "the lake"})

    renamed = await client.vector_stores.update(store.id, name="water birds")
    changed = await client.vector_stores.update(store.id, metadata={"by": "me"})

    assert (renamed.name, renamed.metadata) == ("water birds", {"of": "the lake"})
    assert (changed.name, changed.metadata) == ("water birds", {"by": "me"})
    assert (await client.vector_stores.retrieve(store.id)) == changed
    assert (await client.vector_stores.update(store.id, metadata={})).metadata == {}


async def test_errors_say_the_reason(client: AsyncOpenAI) -> None:
    """To programs that show nothing but the text of OpenAI's exceptions, and look at their codes."""
    store = await client.vector_stores.create()
    said = []
    for asked in (
        client.files.retrieve("file-none"),
        client.vector_stores.search(store.id, query=[]),
        client.vector_stores.search(store.id, query="a", filters={"type": "eq", "key": "a", "value": "x" * 513}),
        client.vector_stores.list(limit=0),
        client.get("/files/1/2/3", cast_to=object),
    ):
        with pytest.raises(openai.APIStatusError) as caught:
            await asked
        said.append((str(caught.value)[:60], caught.value.code, caught.value.param, caught.value.type))

    wrong = "invalid_request_error"
    assert said == [
        ("Error code: 404 - There is no such file of yours, or it has ", "unknown_file", None, wrong),
        ("Error code: 422 - `query`: It is a text, or 1 to 8 texts, ea", "invalid_parameter", "query", wrong),
        ('Error code: 422 - filters: write {"type": "eq", "key": "..."', "invalid_parameter", "filters", wrong),
        ("Error code: 422 - limit: Input should be greater than or equ", "invalid_parameter", "limit", wrong),
        ("Error code: 404 - GET /files/1/2/3: Not Found. See /docs for", "not_found", None, wrong),
    ]


async def test_other_routes_have_problems_only(server: httpx.AsyncClient) -> None:
    """Without what OpenAI's clients read."""
    assert "error" not in (await server.get("/filesystem")).json()
    assert (await server.get("/files/none")).json()["error"]["message"] == (
        "There is no such file of yours, or it has expired."
    )


async def test_what_is_not_there_is_said(client: AsyncOpenAI) -> None:
    """As an error of its kind."""
    store = await client.vector_stores.create()
    for asked in (
        client.files.retrieve("file-none"),
        client.vector_stores.retrieve("vs_none"),
        client.vector_stores.update("vs_none", name="a"),
        client.vector_stores.files.create("vs_none", file_id="file-none"),
        client.vector_stores.files.create(store.id, file_id="file-none"),
        client.vector_stores.create(file_ids=["file-none"]),
    ):
        with pytest.raises(openai.NotFoundError):
            await asked


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("", {"name": 1}, "`name`: Input should be a valid string."),
        (
            "",
            {"expires_after": {"anchor": "last_active_at", "days": 1}},
            "`expires_after`: Vector stores do not expire here: they stay until they are deleted.",
        ),
        ("", {"metadata": {"a": 1}}, "`metadata.a`: Input should be a valid string."),
        *(("/search", {"query": query}, _QUERY) for query in ("", [], ["a"] * 9, 5, ["a", ""], None)),
        ("/search", {"query": "a", "max_num_results": True}, "`max_num_results`: It is a number."),
        ("/search", {"query": "a", "max_num_results": "5"}, "`max_num_results`: It is a number."),
        (
            "/search",
            {"query": "a", "filters": {"type": "eq", "key": "y", "value": 9007199254740993}},
            'filters: write {"type": "eq", "key": "...", "value": ...} with eq, ne, gt, gte, lt, lte, in or nin, or '
            '{"type": "and", "filters": [...]} with and or or. The `value` for \'y\': a number is from '
            "-9007199254740992 to 9007199254740992: beyond them not all are told apart.",
        ),
        ("/search", {"query": "a", "rewrite_query": True}, "`rewrite_query`: Input should be False."),
        *(
            ("/files", {"file_id": "a", "attributes": attributes}, f"`attributes`: {said}.")
            for attributes, said in (
                ({"a": "x" * 513}, "'a': a text has 512 characters at most"),
                ({"a": "x\0"}, "'a': a text has no NUL and no half characters"),
                ({"b": 2, "a": []}, "'a': a value is a text, a number or a truth value"),
                ({"a": 1e32}, _NUMBER),
                ({"a": 9007199254740993}, _NUMBER),
                ({"": 1}, "'': a key has 1 to 64 characters"),
                ([], "It is an object of texts, numbers and truth values"),
            )
        ),
        (
            "/files",
            {"file_id": "a", "chunking_strategy": {"type": "static"}},
            "`chunking_strategy.static`: Field required.",
        ),
        (
            "/files",
            {"file_id": "a", "chunking_strategy": {"type": "static", "static": {"max_chunk_size_tokens": 100}}},
            "`chunking_strategy.static`: The overlap is half of a piece at most.",
        ),
        ("/search", {"query": "a", "filters": {"type": "like"}}, None),
    ],
)
async def test_what_is_wrong_is_said(
    server: httpx.AsyncClient, path: str, body: dict[str, object], detail: str | None
) -> None:
    """By its name."""
    store = (await server.post("/vector_stores", json={})).json()["id"]

    answer = await server.post(f"/vector_stores/{store}{path}" if path else "/vector_stores", json=body)

    assert answer.status_code == 422
    assert detail is None or answer.json()["detail"] == detail


@pytest.mark.parametrize(
    ("form", "status", "said"),
    [
        ({"data": {"purpose": "assistants"}, "files": {"other": ("a", b"a")}}, 422, "The form has no `file`. Send one"),
        ({"files": {"file": ("a", b"a")}}, 422, "The form needs a `purpose`: assistants"),
        (
            {"data": {"purpose": "user_data", "x": "1"}, "files": {"file": ("a", b"a")}},
            422,
            "a field 'x'; it takes `file` and `purpose`",
        ),
        ({"json": {}}, 415, "Send a form"),
        (
            {"content": _BROKEN, "headers": {"Content-Type": "multipart/form-data; boundary=b"}},
            422,
            "has a line break in it",
        ),
    ],
)
async def test_a_form_has_a_file_and_a_purpose(
    server: httpx.AsyncClient, form: dict[str, object], status: int, said: str
) -> None:
    """And nothing else."""
    answer = await server.post("/files", **form)

    assert (answer.status_code, said in answer.json()["detail"]) == (status, True)


async def test_a_file_is_read_in_parts_and_no_browser_runs_it(server: httpx.AsyncClient) -> None:
    """As a workspace's."""
    sent = await server.post("/files", data={"purpose": "user_data"}, files={"file": ("é.html", b"<b>hello")})
    path = f"/files/{sent.json()['id']}/content"

    whole, part = await server.get(path), await server.get(path, headers={"Range": "bytes=3-4"})
    known = await server.get(path, headers={"If-None-Match": whole.headers["ETag"]})

    assert (whole.content, part.status_code, part.content, known.status_code) == (b"<b>hello", 206, b"he", 304)
    assert whole.headers["Content-Type"] == "application/octet-stream"
    assert whole.headers["Content-Disposition"] == "attachment; filename*=UTF-8''%C3%A9.html"
    assert part.headers["Content-Range"] == "bytes 3-4/8"


@tool
async def count() -> int:
    """Count."""
    return 1


async def test_without_the_toolkit_there_are_no_such_routes(make_client: MakeClient) -> None:
    """Nor are they documented."""
    client = await make_client(count)

    assert [(await client.get(path)).status_code for path in ("/files", "/vector_stores")] == [404, 404]
    assert "/files" not in (await client.get("/openapi.json")).json()["paths"]
