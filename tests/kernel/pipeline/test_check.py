"""A call's arguments can be tried without its tool."""

from typing import Annotated

import pytest

from sidecall import InjectedState, tool
from sidecall.kernel.core.errors import InvalidArguments, MalformedArguments, MissingContext, ToolNotFound
from sidecall.kernel.pipeline.pipeline import Pipeline
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline


@tool
async def search_web(query: str) -> str:
    """Search."""
    raise AssertionError(query)


@tool
async def greet(user: Annotated[str, InjectedState("user")]) -> str:
    """Greet."""
    raise AssertionError(user)


@pytest.fixture
def pipeline() -> Pipeline:
    """Give a pipeline over two tools that must not run."""
    return make_pipeline([search_web, greet])


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("search_web", {"query": "a"}, type(None)),
        ("search_web", {"query": 1}, InvalidArguments),
        ("search_web", {"query": "a", "qeury": "b"}, InvalidArguments),
        ("search_web", "{", MalformedArguments),
        ("serch_web", {}, ToolNotFound),
    ],
)
async def test_a_call_can_be_checked_without_being_run(
    pipeline: Pipeline, name: str, args: dict[str, object] | str, expected: type
) -> None:
    """The failure is the one that running it would have."""
    failure = await pipeline.check(write_request(name, args))

    assert type(failure) is expected


async def test_a_check_tells_the_caller_what_it_owes(pipeline: Pipeline) -> None:
    """As running it would."""
    with pytest.raises(MissingContext):
        await pipeline.check(write_request("greet"))
