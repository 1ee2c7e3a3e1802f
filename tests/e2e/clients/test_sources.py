"""Tools of agent frameworks are served as they are, and answer what their own framework answers."""

import json
import sysconfig
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.clients.conftest import find_clients
from tests.e2e.conftest import Serve
from tests.kit.frameworks import APP, QUIET
from tests.kit.servers import Server
from tests.kit.waiting import PATIENCE

HERE = Path(__file__).parent / "sources"
ENVIRONMENTS = {
    "frameworks-newer": ("adk", "strands", "agno", "agent_framework", "haystack", "dspy", "smolagents"),
    "frameworks-older": ("autogen",),
    "frameworks-crewai": ("llama_index", "semantic_kernel", "crewai", "camel"),
}
MORE = {
    "frameworks-newer": ["media_newer", "strands_modules"],
    "frameworks-older": ["media_older"],
    "frameworks-crewai": ["media_crewai"],
}
SENT: Mapping[str, dict[str, Any]] = {
    "adk": {"state": {"notes": ["a"]}},
    "strands": {"state": {"owner": "Ada"}},
    "agno": {"state": {"cart": ["rice"]}},
    "haystack": {"state": {"repository": "docs"}},
    "agent_framework": {"context": {"table": 7}},
}


@pytest.fixture(scope="module")
def servers(start_server: Serve) -> dict[str, Server]:
    """A server in each environment, by the frameworks in it."""

    def start(kind: str) -> Server:
        python = find_clients(kind) / "bin/python"
        named = [f"{name}_tools" for name in ENVIRONMENTS[kind]] + MORE[kind]
        files = (word for name in named for word in ("--tools", str(HERE / f"{name}.py")))
        ours = {"PYTHONPATH": f"{APP}:{HERE}", "PACKAGES_OF_SIDECALL": sysconfig.get_paths()["purelib"]}
        return start_server(*files, python=str(python), **QUIET, **ours)

    # Their imports take most of the time.
    with ThreadPoolExecutor() as threads:
        started = dict(zip(ENVIRONMENTS, threads.map(start, ENVIRONMENTS), strict=True))
    return {name: started[kind] for kind, names in ENVIRONMENTS.items() for name in names}


@pytest.fixture(scope="module")
def clients(servers: dict[str, Server]) -> Iterator[dict[str, httpx.Client]]:
    """A client of each."""
    made = {name: httpx.Client(base_url=it.url, trust_env=False, timeout=PATIENCE) for name, it in servers.items()}
    yield made
    for client in made.values():
        client.close()


def call(client: httpx.Client, framework: str, name: str, args: dict[str, Any], **more: Any) -> Any:
    """Call a tool, with what the caller of the framework's tools sends."""
    sent = {"type": "tool_call", "id": "c1", "name": name, "args": args, **SENT.get(framework, {}), **more}
    return client.post("/tool_calls", json=sent).json()


PICTURE = {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}
# The tool, its arguments, and what both the server and the framework answer.
SAME: tuple[tuple[str, str, dict[str, Any], Any], ...] = (
    ("adk", "get_weather", {"place": {"city": "Oslo"}}, {"status": "success", "report": "Oslo, UK: 25 c"}),
    ("adk", "get_offset", {"city": "Oslo", "days": None}, 4),
    ("adk", "note", {"text": "tea"}, "2 of c1"),
    ("strands", "letter_counter", {"word": "strawberry", "letter": "R"}, 3),
    ("strands", "find_rows", {"table": "a"}, {"table": "a", "rows": [0, 1]}),
    ("strands", "draw", {"title": "Sun"}, [{"type": "text", "text": "Sun for Ada, c1"}, PICTURE]),
    ("agno", "add", {"a": 1, "b": 2.5}, {"operation": "addition", "result": 3.5}),
    ("agno", "find_stories", {"topic": "tea"}, "tea 0, tea 1"),
    ("agno", "add_item", {"item": "tea"}, "added tea"),
    ("agno", "list_items", {"prefix": "-"}, "-tea;-rice;"),
    ("agent_framework", "read_weather", {"location": "Oslo"}, "Oslo: 22 celsius"),
    (
        "agent_framework",
        "order_dishes",
        {"orders": [{"dish": "soup", "count": 2}]},
        {"orders": [{"dish": "soup", "count": 2}], "table": 7},
    ),
    (
        "agent_framework",
        "paint",
        {"title": "Sun"},
        [{"type": "text", "text": "Sun"}, {**PICTURE, "base64": "iVBORw=="}],
    ),
    ("haystack", "report_weather", {"city": "Oslo", "unit": "F"}, {"city": "Oslo", "degrees": 20, "unit": "F"}),
    ("haystack", "subtract", {"a": 5, "b": 3}, 2),
    ("haystack", "multiply", {"a": 5, "b": 3}, 15),
    ("haystack", "find_documents", {"query": "tea"}, "tea in docs"),
    ("llama_index", "multiply_by", {"a": 5}, 10),
    ("llama_index", "load_mails", {"folder": "in"}, "no mails in in"),
    ("llama_index", "send_mail", {"to": "Ada"}, "sent later to Ada"),
    ("dspy", "find_pages", {"query": "tea"}, ["tea 0", "tea 1"]),
    ("dspy", "measure_way", {"points": [{"x": 3}], "on": "2026-01-02"}, {"length": 3, "year": 2026}),
    ("dspy", "translate", {"text": "tea", "to": "de"}, "tea [('to', 'de')]"),
    ("smolagents", "rate_catering", {"service": "Gotham", "stars": 2}, "Gotham: **"),
    ("smolagents", "find_theme", {"category": "hero"}, {"category": "hero", "guests": None}),
    ("smolagents", "final_answer", {"answer": {"a": [1]}}, {"a": [1]}),
    ("autogen", "get_stock_price", {"ticker": "AAPL", "date": "2026/01/02"}, 6.5),
    ("autogen", "search_it", {"query": {"words": ["a"]}}, {"words": ["A"], "limit": 3}),
    ("autogen", "shout", {"text": "hey"}, "HEY"),
    ("semantic_kernel", "get_state", {"id": 2}, True),
    ("semantic_kernel", "list_lamps", {}, [{"id": 1, "is_on": False}]),
    ("semantic_kernel", "texts-uppercase", {"input": "hey"}, "HEY"),
    ("semantic_kernel", "greet", {"name": "Ada", "polite": False}, "Hi, Ada"),
    ("crewai", "multiplication_tool", {"first": 4}, 8),
    ("crewai", "search_pages", {"query": "tea"}, {"query": "tea", "tags": []}),
    ("crewai", "fetch_later", {"topic": "tea"}, "tea, later"),
    ("camel", "math_add", {"a": 1, "b": 2}, 3),
    ("camel", "list_cities", {"country": "NO", "limit": 1}, ["NO 0"]),
    ("camel", "wait_for", {"place": "hall"}, "hall is free"),
)


def test_every_framework_has_three_tools_that_answer_the_same(clients: dict[str, httpx.Client]) -> None:
    """In the same process, with the same arguments, state and context."""
    differing = {}
    for framework, name, args, expected in SAME:
        beside = {"state": SENT[framework]["state"]} if "state" in SENT.get(framework, {}) else {}
        ours = call(clients[framework], framework, name, args)
        theirs = call(clients[framework], framework, f"{framework}_itself", {"name": name, "args": args, **beside})
        wanted = [expected] * 2
        if [_read(ours["content"]), _read(theirs["content"])] != wanted or ours["status"] != "success":
            differing[framework, name] = (ours, theirs)

    assert differing == {}
    counts = [sum(framework == one for one, *_ in SAME) for framework in clients]
    assert min(counts) >= 3
    assert len(clients) == 12


def _read(content: Any) -> Any:
    """Read a text as JSON, if it is any."""
    try:
        return json.loads(content) if isinstance(content, str) else content
    except ValueError:
        return content


@pytest.mark.parametrize(
    ("framework", "name", "args", "words"),
    [
        ("adk", "get_weather", {"place": {"city": "Atlantis"}}, "LookupError: there is no weather under water"),
        ("strands", "letter_counter", {"word": "a", "letter": "rr"}, "Error: the letter must be a single character"),
        ("strands", "find_rows", {"table": "none"}, "There is no such table."),
        ("agno", "find_stories", {"topic": "tea", "limit": -1}, "a limit is not negative"),
        ("agent_framework", "read_weather", {"location": "Atlantis"}, "LookupError: there is no weather under water"),
        ("haystack", "report_weather", {"city": "Atlantis"}, "LookupError: there is no weather under water"),
        ("llama_index", "multiply_by", {"a": -5}, "ValueError: a is not negative here"),
        ("dspy", "find_pages", {"query": ""}, "ValueError: a query has words"),
        ("smolagents", "rate_catering", {"service": "none"}, "ValueError: no such service"),
        ("autogen", "get_stock_price", {"ticker": "NONE", "date": "x"}, "LookupError: no such share"),
        ("semantic_kernel", "greet", {"name": "nobody"}, "LookupError: nobody is here"),
        ("crewai", "multiplication_tool", {"first": -4}, "ValueError: the first is not negative here"),
        ("camel", "list_cities", {"country": "none"}, "ValueError: no such country"),
    ],
)
def test_a_failure_is_told_in_its_words(
    clients: dict[str, httpx.Client], framework: str, name: str, args: dict[str, Any], words: str
) -> None:
    """Without what the framework puts around them, such as the arguments."""
    answer = call(clients[framework], framework, name, args)

    assert (answer["status"], answer["content"]) == ("error", words)
    assert answer["response_metadata"]["error"]["kind"] == "tool_error"


@pytest.mark.parametrize(
    ("framework", "name", "args", "place"),
    [
        ("adk", "get_weather", {"place": {"city": 1}}, ["place", "city"]),
        ("strands", "letter_counter", {"word": "a"}, ["letter"]),
        ("agno", "add", {"a": "x", "b": 1}, ["a"]),
        ("agent_framework", "order_dishes", {"orders": [{}]}, ["orders", 0, "dish"]),
        ("haystack", "report_weather", {"city": "Oslo", "unit": "K"}, ["unit"]),
        ("llama_index", "multiply_by", {"a": "x"}, ["a"]),
        ("dspy", "measure_way", {"points": [{"x": "?"}], "on": "2026-01-02"}, ["points", 0, "x"]),
        ("smolagents", "find_theme", {"category": "dwarf"}, ["category"]),
        ("autogen", "search_it", {"query": {}}, ["query", "words"]),
        ("semantic_kernel", "get_state", {"id": "x"}, ["id"]),
        ("crewai", "search_pages", {}, ["query"]),
        ("camel", "math_add", {"a": "x", "b": 1}, ["a"]),
    ],
)
def test_their_schema_is_what_we_check(
    clients: dict[str, httpx.Client], framework: str, name: str, args: dict[str, Any], place: list[Any]
) -> None:
    """Before the framework sees the arguments."""
    error = call(clients[framework], framework, name, args)["response_metadata"]["error"]

    assert (error["kind"], error["errors"][0]["loc"]) == ("invalid_arguments", place)


def test_images_are_images(clients: dict[str, httpx.Client]) -> None:
    """Beside their texts, in the form of any other tool."""
    made = call(clients["llama_index"], "llama_index", "make_picture", {"title": "Sun"})["content"]

    assert made == [{"type": "text", "text": "Sun"}, PICTURE]


def medium(kind: str, mime_type: str, data: str = PICTURE["base64"], **more: str) -> dict[str, Any]:
    """Write a block of a medium."""
    return {"type": kind, "base64": data, "mime_type": mime_type, **more}


SUN = {"type": "text", "text": "Sun"}
MEDIA: tuple[tuple[str, str, list[Any]], ...] = (
    ("adk", "draw_adk", [SUN, PICTURE, {"type": "text", "text": "Done."}]),
    ("agno", "draw_agno", [SUN, PICTURE, medium("file", "text/plain", "YSBub3Rl", filename="note.txt")]),
    ("dspy", "draw_dspy", [SUN, PICTURE, medium("audio", "audio/wav"), medium("file", "text/plain")]),
    ("haystack", "draw_haystack", [SUN, PICTURE, medium("file", "text/plain", filename="note.txt")]),
    ("strands", "show_film", [SUN, medium("video", "video/mp4")]),
    ("semantic_kernel", "draw_kernel", [SUN, PICTURE, medium("audio", "audio/wav")]),
    ("camel", "draw_camel", [SUN, PICTURE]),
    (
        "llama_index",
        "film",
        [
            SUN,
            medium("audio", "audio/wav"),
            medium("video", "video/mp4"),
            medium("file", "application/pdf", filename="a.pdf"),
        ],
    ),
)


@pytest.mark.parametrize(("framework", "name", "content"), MEDIA, ids=[it[0] for it in MEDIA])
def test_media_of_each_framework_are_blocks(
    clients: dict[str, httpx.Client], framework: str, name: str, content: list[Any]
) -> None:
    """Images, sounds, videos and files, with their names."""
    assert call(clients[framework], framework, name, {"title": "Sun"})["content"] == content


@pytest.mark.parametrize(
    ("framework", "name", "title"),
    [
        ("smolagents", "draw_smolagents", "Sun"),
        ("smolagents", "draw_smolagents", "print"),
        ("autogen", "draw_autogen", "Sun"),
        ("crewai", "draw_crewai", "Sun"),
    ],
)
def test_a_drawing_is_a_png(clients: dict[str, httpx.Client], framework: str, name: str, title: str) -> None:
    """Of Pillow, also in colours that PNG has not."""
    *before, picture = call(clients[framework], framework, name, {"title": title})["content"]

    assert before == ([SUN] if framework == "crewai" else [])
    assert (picture["type"], picture["mime_type"], picture["base64"][:11]) == ("image", "image/png", "iVBORw0KGgo")


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("strands_weather", {"city": "Oslo"}, "Oslo: 20 for Ada"),
        ("strands_weather", {"city": "Atlantis"}, "It is under water."),
        ("count_words", {"text": "a b"}, "2"),
        ("lend", {"book": "Emma"}, "Emma is yours"),
    ],
)
def test_modules_and_providers_of_strands_are_taken(
    clients: dict[str, httpx.Client], name: str, args: dict[str, Any], answer: str
) -> None:
    """As an agent of Strands takes them."""
    assert call(clients["strands"], "strands", name, args)["content"] == answer


def test_a_toolkit_of_agno_is_connected_for_each_call(clients: dict[str, httpx.Client]) -> None:
    """And closed after it, also after a failure; one that cannot connect fails, and may the next time."""
    calls = [("find_book", "Emma"), ("find_book", "none"), ("list_books", None), ("find_book", "X"), ("find_book", "Y")]
    answers = [
        call(clients["agno"], "agno", name, {} if title is None else {"title": title})["content"]
        for name, title in calls
    ]

    assert answers == [
        "Emma: True, 1",
        "no such book",
        "list: True, 3",
        "ConnectionError: the shelf is far away",
        "Y: True, 5",
    ]


def test_the_program_gets_what_the_model_does_not_read(clients: dict[str, httpx.Client]) -> None:
    """The raw output of LlamaIndex, of which the model reads JSON in place of Python's form."""
    answer = call(clients["llama_index"], "llama_index", "query_rows", {"query": "x", "limit": 1})
    theirs = call(clients["llama_index"], "", "llama_index_itself", {"name": "query_rows", "args": {"query": "x"}})

    assert answer["content"] == '[{"query": "x", "row": 0}]'
    assert answer["artifact"] == [{"query": "x", "row": 0}]
    assert theirs["content"].startswith("[{'query': 'x', 'row': 0}")


@pytest.mark.parametrize(
    ("framework", "name", "args", "update"),
    [
        ("adk", "note", {"text": "tea"}, {"notes": ["a", "tea"]}),
        ("agno", "add_item", {"item": "tea"}, {"cart": ["rice", "tea"]}),
        ("haystack", "find_documents", {"query": "tea"}, {"documents": ["tea in docs"]}),
    ],
)
def test_what_a_tool_changes_in_the_state_goes_back(
    clients: dict[str, httpx.Client], framework: str, name: str, args: dict[str, Any], update: dict[str, Any]
) -> None:
    """As of a tool of ours that returns a Command."""
    answer = call(clients[framework], framework, name, args)

    assert answer["response_metadata"]["state_update"] == update


def test_null_is_a_default_of_camel(clients: dict[str, httpx.Client]) -> None:
    """Its schema requires all arguments; it hands null to the function itself, which fails there."""
    args = {"country": "NO", "limit": None}

    assert call(clients["camel"], "camel", "list_cities", args)["content"] == ["NO 0", "NO 1"]
    assert call(clients["camel"], "", "camel_itself", {"name": "list_cities", "args": args})["status"] == "error"


@pytest.mark.parametrize(
    ("framework", "name", "amount", "paid"),
    [
        ("adk", "pay", 11, "paid 11"),
        ("strands", "spend", 5, "approve 5"),
        ("agno", "transfer", 1, "sent 1"),
        ("agent_framework", "pay_bill", 2, "paid 2"),
    ],
)
def test_what_wants_a_confirmation_waits_for_a_person(
    clients: dict[str, httpx.Client], framework: str, name: str, amount: int, paid: str
) -> None:
    """And runs once it is approved."""
    client, asked = clients[framework], {"type": "tool_call", "id": name, "name": name, "args": {"amount": amount}}
    first = client.post("/tool_calls", json=asked)
    assert first.status_code == 202
    client.post(first.headers["Location"], json={"decision": "approve"})

    assert client.post("/tool_calls", json=asked, headers={"Prefer": "wait=10"}).json()["content"] == paid
    if framework == "adk":
        assert call(client, framework, name, {"amount": 3})["content"] == "paid 3"


def test_what_cannot_be_taken_is_named(servers: dict[str, Server]) -> None:
    """With what to do about it."""
    log = servers["llama_index"].log

    assert "remember_tool is not offered: it is a tool of LlamaIndex that cannot be taken over: its `ctx` is" in log
    assert log.count("is not offered") == 1
    assert "sing is not offered: it is a tool of smolagents that cannot be taken over: its answer is a sound" in (
        servers["smolagents"].log
    )
