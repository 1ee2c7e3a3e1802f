"""Filters find in every database what they find in Python, and all questions are words."""

import asyncio
import json
import string
from collections.abc import Iterator
from typing import Any

import asyncpg
import httpx
import pytest
import respx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecall.features.ledger.open_ledger import open_file_store
from sidecall.features.vector_stores import embedding
from sidecall.features.vector_stores.embedding import EmbeddingFailed, Embeddings
from sidecall.features.vector_stores.file_indexer import make_mark
from sidecall.features.vector_stores.filters import write_filter
from sidecall.features.vector_stores.passage_search import Weights
from sidecall.features.vector_stores.records import VectorStoreBounds
from sidecall.features.vector_stores.stores import VectorStores
from tests.features.vector_stores.indexing.test_filters import FILES, FILTERS, holds
from tests.kit.on_loop import listing_calls_on_loop

URL = "http://127.0.0.1:9/v1"
# What a model could have learnt: which words mean the same.
MEANINGS = {"heron": (1.0, 0.1), "wading bird": (1.0, 0.0), "owl": (0.0, 1.0)}
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Kept:
    """Stores on a loop of their own, so that hypothesis can ask them again and again."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.stores = VectorStores(open_file_store(url), VectorStoreBounds(bytes=10**9))
        self.run(self.stores.open())
        self.texts = [self.run(self.stores.files.put("one", f"{it}.txt", "user_data", b"tea")).id for it in range(5)]

    def run(self, asked: Any) -> Any:
        """Wait for what was asked for."""
        return self.runner.run(asked)

    def close(self) -> None:
        """Let go of it."""
        self.run(self.stores.close())
        self.runner.close()


@pytest.fixture
def kept(store_url: str) -> Iterator[Kept]:
    """Give five files in stores of each kind."""
    made = Kept(store_url)
    yield made
    made.close()


def test_sql_finds_what_python_finds(kept: Kept) -> None:
    """For all attributes."""

    @SOME
    @given(FILES, FILTERS)
    def look(files: list[dict[str, Any]], wanted: Any) -> None:
        store = kept.run(kept.stores.create("one", "", {}))
        for file, attributes in zip(kept.texts, files, strict=False):
            kept.run(kept.stores.add("one", store.id, file, attributes))
        found = {it.file_id for it in kept.run(kept.stores.search("one", ["tea"], 50, wanted, [store.id]))}
        kept.run(kept.stores.delete("one", store.id))

        assert found == {kept.texts[number] for number, it in enumerate(files) if holds(wanted, it)}

    look()


async def test_a_filter_of_many_parts_is_not_joined(emptied_url: str) -> None:
    """PostgreSQL would look for the best order of all joins for longer than a search may take."""
    stores = VectorStores(open_file_store(emptied_url), VectorStoreBounds())
    await stores.open()
    parts = [{"type": kind, "key": "a", "value": number} for number in range(5) for kind in ("eq", "ne", "gte")]
    condition, values = write_filter({"type": "and", "filters": parts})
    connection = await asyncpg.connect(emptied_url)
    try:
        plan = await connection.fetch(
            f"EXPLAIN SELECT m.number FROM vector_store_files AS m WHERE {condition}", *values
        )
    finally:
        await connection.close()
        await stores.close()

    assert not any("Join" in line or "Nested Loop" in line for (line,) in plan)


def test_no_query_is_syntax(kept: Kept) -> None:
    """For all texts."""
    store = kept.run(kept.stores.create("one", "", {}))
    kept.run(kept.stores.add("one", store.id, kept.texts[0], {}))

    @SOME
    @given(st.one_of(st.text(max_size=60), st.text(alphabet=string.punctuation + " aNEOR", max_size=60)))
    def look(query: str) -> None:
        found = kept.run(kept.stores.search("one", [query, f'"{query}', f"{query}* NEAR(", f"tea & {query} tea"], 5))
        assert [it.file_id for it in found] == [kept.texts[0]]

    look()


def test_marks_say_nothing_of_tenants() -> None:
    """They are consonants, so that stems are found behind them."""
    assert make_mark("one") != make_mark("two")
    assert set(make_mark("one") + make_mark("two")) <= set("bcdfghjklmnpqrst")


def answer(request: httpx.Request) -> httpx.Response:
    """Answer as a service of embeddings does."""
    assert request.headers["Authorization"] == "Bearer key"
    asked = json.loads(request.content)
    assert asked["model"] == "small"
    found = []
    for number, text in enumerate(asked["input"]):
        vector = next((it for word, it in MEANINGS.items() if word in text), (0.5, 0.5))
        found.append({"index": number, "embedding": vector, "object": "embedding"})
    return httpx.Response(200, json={"data": found[::-1], "model": "small", "object": "list"})


@pytest.fixture
def service() -> Iterator[respx.Route]:
    """Give a service that knows what some words mean."""
    with respx.mock() as router:
        yield router.post(f"{URL}/embeddings").mock(side_effect=answer)


async def test_what_means_the_same_is_found(store_url: str, service: respx.Route) -> None:
    """Beside what has the words; how much each counts can be said."""
    stores = VectorStores(open_file_store(store_url), VectorStoreBounds(), Embeddings(URL, "small", lambda: "key"))
    await stores.open()
    store = (await stores.create("one", "", {})).id
    ids = {}
    for name in ("heron", "owl"):
        ids[name] = (await stores.files.put("one", f"{name[0]}.txt", "user_data", f"A {name}.".encode())).id
        await stores.add("one", store, ids[name], {})

    found = await stores.search("one", ["wading bird"], 1, None, [store])
    assert [it.file_id for it in found] == [ids["heron"]]
    assert found[0].score == 1.0
    by_words = await stores.search("one", ["wading bird"], 5, None, [store], Weights(meaning=0.0))
    assert by_words == []
    both = await stores.search("one", ["owl or wading bird"], 5, None, [store])
    assert [it.file_id for it in both] == [ids["owl"], ids["heron"]]

    service.mock(side_effect=httpx.ConnectError)
    assert [it.file_id for it in await stores.search("one", ["owl"], 5)] == [ids["owl"]]
    failed = await stores.add("one", store, ids["owl"], {})
    assert failed.error == ("server_error", "The service that makes embeddings cannot be reached.")
    await stores.close()


async def test_vectors_are_read_beside_the_event_loop(service: respx.Route) -> None:
    """Those of 64 texts are some hundred thousand numbers."""
    with listing_calls_on_loop(embedding, "_read") as on_loop:
        vectors = await Embeddings(URL, "small", lambda: "key").embed(["tea"] * 65)

    assert (len(vectors), service.call_count, on_loop) == (65, 2, [])


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([httpx.Response(401)], "The service that makes embeddings has answered with 401."),
        (
            [httpx.Response(503, headers={"Retry-After": "0"})] * 3,
            "The service that makes embeddings has answered with 503.",
        ),
        (
            [httpx.Response(429, headers={"Retry-After": "99"})],
            "The service that makes embeddings has answered with 429.",
        ),
        ([httpx.Response(200, text="no")], "The service that makes embeddings has answered with something else."),
        (
            [httpx.Response(200, json={"data": []})],
            "The service that makes embeddings has answered with something else.",
        ),
    ],
)
async def test_a_service_that_fails_is_told_of(service: respx.Route, answers: list[httpx.Response], said: str) -> None:
    """Without what it says, in which there may be the key; one that is busy is asked again."""
    service.mock(side_effect=answers)
    with pytest.raises(EmbeddingFailed) as caught:
        await Embeddings(URL, "small", lambda: None).embed(["a"])

    assert caught.value.message == said
    assert service.call_count == len(answers)
