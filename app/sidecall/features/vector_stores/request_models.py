"""Request bodies of vector stores, in OpenAI's shapes."""

from typing import Annotated, Any, Literal, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sidecall.features.vector_stores.chunking import Cut
from sidecall.features.vector_stores.filters import (
    LONGEST_KEY,
    LONGEST_VALUE,
    MOST_ATTRIBUTES,
    explain_value,
    is_attribute,
    name_kind,
)
from sidecall.features.vector_stores.openai_shapes import NUMBER, StaticSizes
from sidecall.features.vector_stores.passage_search import Weights
from sidecall.http.body import Bounds, read_json
from sidecall.kernel.core.errors import InvalidParameter
from sidecall.rest.body_errors import format_errors, list_errors

M = TypeVar("M", bound=BaseModel)
MOST_FILES_AT_ONCE = 100
_CHARACTERS = 4
_TERM = "Vector stores do not expire here: they stay until they are deleted"
Text = Annotated[str, Field(max_length=LONGEST_VALUE)]
Key = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]
MOST_QUERIES, LONGEST_QUERY = 8, 4096
QueryText = Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY)]


class _Sent(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid")


class AutoChunking(_Sent):
    """Cut files as this server does."""

    type: Literal["auto"]


class WantedChunking(_Sent):
    """Cut files into pieces of this size."""

    type: Literal["static"]
    static: StaticSizes

    @model_validator(mode="after")
    def _is_half(self) -> "WantedChunking":
        if self.static.chunk_overlap_tokens > self.static.max_chunk_size_tokens // 2:
            raise PydanticCustomError("overlap", "The overlap is half of a piece at most")
        return self


Chunking = Annotated[AutoChunking | WantedChunking, Field(discriminator="type")]


class NewVectorStore(_Sent):
    """A store to be made."""

    name: str = Field(default="", max_length=256)
    metadata: dict[Key, Text] | None = Field(default=None, max_length=MOST_ATTRIBUTES)
    file_ids: list[str] = Field(default_factory=list, max_length=MOST_FILES_AT_ONCE, description="Files to put in.")
    chunking_strategy: Chunking | None = None


class VectorStoreChange(_Sent):
    """What is to be changed of a store; what is left out stays."""

    name: str | None = Field(default=None, max_length=256)
    metadata: dict[Key, Text] | None = Field(
        default=None, max_length=MOST_ATTRIBUTES, description="In the place of all that is there."
    )


class NewVectorStoreFile(_Sent):
    """A file to be put into a store."""

    file_id: str = Field(min_length=1, max_length=100)
    attributes: dict[str, str | bool | float] | None = Field(
        default=None, max_length=MOST_ATTRIBUTES, description="What filters look at: texts, numbers and truth values."
    )
    chunking_strategy: Chunking | None = None

    @field_validator("attributes", mode="before")
    @classmethod
    def _require_attributes(cls, value: Any) -> Any:
        if value is not None and not isinstance(value, dict):
            raise PydanticCustomError("attributes", "It is an object of texts, numbers and truth values")
        for key, one in (value or {}).items():
            if not is_attribute(key, one):
                said = explain_value(one) if name_kind(one) is None else f"a key has 1 to {LONGEST_KEY} characters"
                raise PydanticCustomError("attribute", "{key}: {said}", {"key": repr(key[:LONGEST_KEY]), "said": said})
        return value


class HybridSearch(_Sent):
    """How much each order counts, where this server has one by meaning."""

    embedding_weight: Annotated[float, NUMBER] = Field(default=1.0, ge=0, le=1000, allow_inf_nan=False)
    text_weight: Annotated[float, NUMBER] = Field(default=1.0, ge=0, le=1000, allow_inf_nan=False)


class RankingOptions(_Sent):
    """How passages are ranked."""

    ranker: Literal["auto", "none", "default-2024-11-15"] = "auto"
    score_threshold: Annotated[float, NUMBER] = Field(default=0.0, ge=0, le=1)
    hybrid_search: HybridSearch = Field(default_factory=HybridSearch)


class VectorStoreSearch(_Sent):
    """What to look for in a store."""

    query: QueryText | Annotated[list[QueryText], Field(min_length=1, max_length=MOST_QUERIES)]
    max_num_results: Annotated[int, NUMBER] = Field(default=10, ge=1, le=50)
    filters: dict[str, Any] | None = Field(
        default=None, description='Such as `{"type": "eq", "key": "year", "value": 2026}`, or several with `and`, `or`.'
    )
    ranking_options: RankingOptions = Field(default_factory=RankingOptions)
    rewrite_query: Literal[False] = Field(default=False, description="No query is rewritten here.")

    @field_validator("query", mode="before")
    @classmethod
    def _require_texts(cls, value: Any) -> Any:
        texts = value if isinstance(value, list) else [value]
        is_right = 0 < len(texts) <= MOST_QUERIES
        if not is_right or any(not isinstance(it, str) or not 0 < len(it) <= LONGEST_QUERY for it in texts):
            said = f"It is a text, or 1 to {MOST_QUERIES} texts, each of 1 to {LONGEST_QUERY:,} characters"
            raise PydanticCustomError("query", "{said}", {"said": said})
        return value

    @property
    def queries(self) -> list[str]:
        """The texts to search for."""
        return [self.query] if isinstance(self.query, str) else self.query

    @property
    def weights(self) -> Weights:
        """The weights of the two orders."""
        hybrid = self.ranking_options.hybrid_search
        return Weights(hybrid.embedding_weight, hybrid.text_weight)


REQUESTS: list[type[BaseModel]] = [NewVectorStore, NewVectorStoreFile, VectorStoreChange, VectorStoreSearch]


async def read_model(request: Request, bounds: Bounds, model: type[M]) -> M:
    """Read a body as a model.

    Raises:
        InvalidParameter: The body does not fit the model.
        RequestError: The body cannot be read.
    """
    sent = await read_json(request, bounds)
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        misfit = list_errors(error, sent)[0]
        if misfit["loc"] == ["expires_after"]:
            misfit["msg"] = _TERM
        shown = {**misfit, "loc": ["body", *misfit["loc"]]}
        raise InvalidParameter(f"{format_errors([misfit])}.", errors=[shown]) from None


def choose_cut(chunking: Chunking | None) -> Cut:
    """Return into which pieces files are to be cut."""
    if not isinstance(chunking, WantedChunking):
        return Cut()
    sizes = chunking.static
    return Cut(sizes.max_chunk_size_tokens * _CHARACTERS, sizes.chunk_overlap_tokens * _CHARACTERS)
