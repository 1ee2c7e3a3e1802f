"""A retriever is offered as a tool, as LangChain does."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate

from sidecall import create_retriever_tool
from sidecall.kernel.core.errors import InvalidToolOption
from tests.kit.calls import run

DOCUMENTS = [
    Document(page_content="Tea is a drink.", metadata={"source": "a"}),
    Document(page_content="Cake is not.", metadata={"source": "b"}),
]


def look_up(query: str) -> list[Document]:
    """Find documents."""
    return DOCUMENTS if query == "tea" else []


async def alook_up(query: str) -> list[dict[str, Any]]:
    """Find documents."""
    return [{"page_content": query, "metadata": None}, {"page_content": "more"}]


class Retriever:
    """Answer as LangChain's retrievers do."""

    def invoke(self, query: str) -> list[str]:
        """Find texts."""
        return [query, "sync"]


class AsyncRetriever(Retriever):
    """Answer asynchronously too."""

    async def ainvoke(self, query: str) -> list[str]:
        """Find texts."""
        return [query, "async"]


def test_its_definition_is_langchains() -> None:
    """One query."""
    compiled = create_retriever_tool(look_up, "notes", "Search notes.").compiled

    assert compiled.description == "Search notes."
    assert compiled.args_schema.flat == {
        "type": "object",
        "properties": {"query": {"description": "query to look up in retriever", "type": "string"}},
        "required": ["query"],
    }


@pytest.mark.parametrize(
    ("retriever", "options", "content"),
    [
        (look_up, {}, "Tea is a drink.\n\nCake is not."),
        (look_up, {"document_separator": " | "}, "Tea is a drink. | Cake is not."),
        (look_up, {"document_prompt": "{source}: {page_content}"}, "a: Tea is a drink.\n\nb: Cake is not."),
        (
            look_up,
            {"document_prompt": PromptTemplate.from_template("[{source}] {page_content}")},
            "[a] Tea is a drink.\n\n[b] Cake is not.",
        ),
        (alook_up, {}, "tea\n\nmore"),
        (Retriever(), {}, "tea\n\nsync"),
        (AsyncRetriever(), {}, "tea\n\nasync"),
    ],
)
async def test_documents_are_written_for_the_model(retriever: Any, options: dict[str, Any], content: str) -> None:
    """By a template, with a separator."""
    made = create_retriever_tool(retriever, "notes", "Search notes.", **options)

    assert await made.ainvoke({"query": "tea"}) == content


async def test_documents_can_be_the_artifact() -> None:
    """As JSON."""
    made = create_retriever_tool(look_up, "notes", "Search notes.", response_format="content_and_artifact")

    message = await run(made, {"query": "tea"})

    assert message.content == "Tea is a drink.\n\nCake is not."
    assert message.artifact == [
        {"page_content": "Tea is a drink.", "metadata": {"source": "a"}},
        {"page_content": "Cake is not.", "metadata": {"source": "b"}},
    ]


def test_what_cannot_look_anything_up_is_refused() -> None:
    """At the start."""
    with pytest.raises(InvalidToolOption, match="a retriever is a function or has `invoke`, which int has not"):
        create_retriever_tool(5, "notes", "Search notes.")
