"""What programs send to vector stores, in OpenAI's shapes."""

from typing import Annotated, Any, Literal, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sidecall.core.errors import InvalidParameter
from sidecall.http.body import Bounds, read_json
from sidecall.indexing.filters import LONGEST_KEY, LONGEST_VALUE, MOST_ATTRIBUTES, is_attribute
from sidecall.rest.misfits import list_misfits, say_misfits
from sidecall.rest.vector_stores.shown import StaticSizes
from sidecall.vector_stores.finding import Weights
from sidecall.vector_stores.kept import Cut

M = TypeVar("M", bound=BaseModel)
MOST_FILES_AT_ONCE = 100
_CHARACTERS = 4
Text = Annotated[str, Field(max_length=LONGEST_VALUE)]
Key = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]
QueryText = Annotated[str, Field(min_length=1, max_length=4096)]


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
            raise ValueError("the overlap is half of a piece at most")
        return self


Chunking = Annotated[AutoChunking | WantedChunking, Field(discriminator="type")]


class NewVectorStore(_Sent):
    """A store to be made."""

    name: str = Field(default="", max_length=256)
    metadata: dict[Key, Text] | None = Field(default=None, max_length=MOST_ATTRIBUTES)
    file_ids: list[str] = Field(default_factory=list, max_length=MOST_FILES_AT_ONCE, description="Files to put in.")
    chunking_strategy: Chunking | None = None


class NewVectorStoreFile(_Sent):
    """A file to be put into a store."""

    file_id: str = Field(min_length=1, max_length=100)
    attributes: dict[str, str | bool | float] | None = Field(
        default=None, max_length=MOST_ATTRIBUTES, description="What filters look at: texts, numbers and truth values."
    )
    chunking_strategy: Chunking | None = None

    @model_validator(mode="after")
    def _has_attributes(self) -> "NewVectorStoreFile":
        for key, value in (self.attributes or {}).items():
            if not is_attribute(key, value):
                raise ValueError(
                    f"an attribute has a key of {LONGEST_KEY} characters, and a text of {LONGEST_VALUE} at most"
                )
        return self


class HybridSearch(_Sent):
    """How much each order counts, where this server has one by meaning."""

    embedding_weight: float = Field(default=1.0, ge=0, le=1000, allow_inf_nan=False)
    text_weight: float = Field(default=1.0, ge=0, le=1000, allow_inf_nan=False)


class RankingOptions(_Sent):
    """How passages are ranked."""

    ranker: Literal["auto", "none", "default-2024-11-15"] = "auto"
    score_threshold: float = Field(default=0.0, ge=0, le=1)
    hybrid_search: HybridSearch = Field(default_factory=HybridSearch)


class VectorStoreSearch(_Sent):
    """What to look for in a store."""

    query: QueryText | Annotated[list[QueryText], Field(min_length=1, max_length=8)]
    max_num_results: int = Field(default=10, ge=1, le=50)
    filters: dict[str, Any] | None = Field(
        default=None, description='Such as `{"type": "eq", "key": "year", "value": 2026}`, or several with `and`, `or`.'
    )
    ranking_options: RankingOptions = Field(default_factory=RankingOptions)
    rewrite_query: Literal[False] = Field(default=False, description="No query is rewritten here.")

    @property
    def queries(self) -> list[str]:
        """The texts to look for."""
        return [self.query] if isinstance(self.query, str) else self.query

    @property
    def weights(self) -> Weights:
        """How much each order counts."""
        hybrid = self.ranking_options.hybrid_search
        return Weights(hybrid.embedding_weight, hybrid.text_weight)


REQUESTS: list[type[BaseModel]] = [NewVectorStore, NewVectorStoreFile, VectorStoreSearch]


async def read_model(request: Request, bounds: Bounds, model: type[M]) -> M:
    """Read a body as a model.

    Raises:
        InvalidParameter: It is not what it should be.
        RequestError: The body cannot be read.
    """
    sent = await read_json(request, bounds)
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise InvalidParameter(f"{say_misfits(list_misfits(error, sent)[:1])}.") from None


def choose_cut(chunking: Chunking | None) -> Cut:
    """Return into which pieces files are to be cut."""
    if not isinstance(chunking, WantedChunking):
        return Cut()
    sizes = chunking.static
    return Cut(sizes.max_chunk_size_tokens * _CHARACTERS, sizes.chunk_overlap_tokens * _CHARACTERS)
