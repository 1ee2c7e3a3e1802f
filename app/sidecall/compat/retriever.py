"""A tool that looks up documents."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from pydantic import BaseModel, Field

from sidecall.authoring.structured_tool import StructuredTool
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.options import ResponseFormat


class RetrieverInput(BaseModel):
    """The arguments of a retriever: the query."""

    query: str = Field(description="query to look up in retriever")


class PromptTemplate(Protocol):
    """Formats a text with named values: a text with `{page_content}` in it, or LangChain's PromptTemplate."""

    def format(self, **values: Any) -> str:
        """Fill in the values."""


def create_retriever_tool(
    retriever: Any,
    name: str,
    description: str,
    *,
    document_prompt: PromptTemplate | str | None = None,
    document_separator: str = "\n\n",
    response_format: ResponseFormat = "content",
) -> StructuredTool:
    """Offer a retriever as a tool, as LangChain does.

    Args:
        retriever: A function of the query, sync or async, or an object with `ainvoke` or `invoke`. It answers with
            documents: texts, mappings or objects with `page_content` and `metadata`.
        name: The tool's name.
        description: What the model reads.
        document_prompt: How one document is written; its metadata can be named too. Its text alone when None.
        document_separator: What stands between documents.
        response_format: With `content_and_artifact` the documents are the artifact.

    Raises:
        InvalidToolOption: The retriever cannot be called.
    """
    look_up = _find_lookup(retriever, name)
    prompt = "{page_content}" if document_prompt is None else document_prompt

    def write(found: Iterable[Any]) -> Any:
        documents = [_read_document(item) for item in found]
        content = document_separator.join(
            prompt.format(page_content=document["page_content"], **document["metadata"]) for document in documents
        )
        return (content, documents) if response_format == "content_and_artifact" else content

    async def aretrieve(query: str) -> Any:
        return write(await look_up(query))

    def retrieve(query: str) -> Any:
        return write(look_up(query))

    return StructuredTool.from_function(
        aretrieve if inspect.iscoroutinefunction(look_up) else retrieve,
        name=name,
        description=description,
        args_schema=RetrieverInput,
        response_format=response_format,
    )


class Document(BaseModel, defer_build=True):
    """A text that a retriever finds, with its metadata, as in LangChain."""

    page_content: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None

    def __init__(self, page_content: str = "", **fields: Any) -> None:
        super().__init__(page_content=page_content, **fields)

    # Validation makes documents past it, as if it were pydantic's own.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def _find_lookup(retriever: Any, name: str) -> Callable[[str], Any]:
    for method in ("ainvoke", "invoke"):
        if callable(getattr(retriever, method, None)):
            found: Callable[[str], Any] = getattr(retriever, method)
            return found
    if not callable(retriever):
        kind = type(retriever).__name__
        raise InvalidToolOption(f"tool {name!r}: a retriever is a function or has `invoke`, which {kind} has not.")
    function: Callable[[str], Any] = retriever
    return function


def _read_document(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return {"page_content": item, "metadata": {}}
    known = item if isinstance(item, Mapping) else {name: getattr(item, name, None) for name in Document.model_fields}
    identity = {} if known.get("id") is None else {"id": known["id"]}
    return {**identity, "page_content": known["page_content"], "metadata": dict(known.get("metadata") or {})}
