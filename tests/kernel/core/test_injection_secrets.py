"""A secret is the server's to fill in, and nobody else learns of it."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from sidecall import BaseTool, Secret, tool
from sidecall.kernel.core.errors import DefinitionError
from tests.kit.calls import run

CANARY = "canary-4711"


class Keyed(BaseModel):
    """Arguments of the author's own, with a secret among them."""

    query: str
    key: Annotated[int, Secret("SEARCH_KEY")]


@tool(args_schema=Keyed)
async def keyed(query: str, key: int) -> list[Any]:
    """Search."""
    return [{"v": [query, key]}]


@tool
async def keyed_anywhere(
    query: str,
    key: Annotated[int, "a number", Secret("SEARCH_KEY")],
    other: Annotated[Annotated[str, Secret("OTHER_KEY")] | None, "maybe"] = "default",
) -> list[Any]:
    """Search."""
    return [{"v": [query, key, other]}]


@pytest.mark.parametrize(
    ("offered", "expected"),
    [(keyed, '[{"v": ["q", 7]}]'), (keyed_anywhere, '[{"v": ["q", 7, "default"]}]')],
    ids=["model", "function"],
)
async def test_a_secret_is_filled_in_as_the_annotated_type(
    offered: BaseTool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the server alone: what the model or the caller sends for it is dropped."""
    monkeypatch.setenv("SEARCH_KEY", "7")
    monkeypatch.delenv("OTHER_KEY", raising=False)

    message = await run(offered, {"query": "q", "key": 9}, state={"key": 9}, context={"key": 9, "SEARCH_KEY": 9})

    assert list(offered.compiled.args_schema.json_schema["properties"]) == ["query"]
    assert message.content == expected
    assert message.response_metadata["ignored_args"] == ["key"]


@pytest.mark.parametrize("offered", [keyed, keyed_anywhere], ids=["model", "function"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [("SEARCH_KEY", "execution_error"), ("ANOTHER_KEY", "not_configured")],
    ids=["wrong", "missing"],
)
async def test_a_secret_that_does_not_fit_is_not_the_models_to_mend(
    offered: BaseTool, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told neither the value nor the name, nor that there is such an argument."""
    monkeypatch.delenv("SEARCH_KEY", raising=False)
    monkeypatch.setenv(name, CANARY)

    message = await run(offered, {"query": "q"})

    assert message.response_metadata["error"]["kind"] == kind
    assert message.response_metadata["error"]["errors"] == []
    assert CANARY not in message.model_dump_json()


def test_a_secret_without_a_name_is_refused_at_the_start() -> None:
    """The marker's class does for others, but a secret has to be named."""

    @tool
    def search(key: Annotated[str, Secret]) -> str:
        """Search."""
        return key

    with pytest.raises(DefinitionError, match="key"):
        _ = search.compiled
