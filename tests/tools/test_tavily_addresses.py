"""Where Tavily is, is the operator's choice, and may be in their own network."""

import pytest

from sidecall import ToolMessage
from tests.kit.calls import run
from tests.outgoing.sites import resolve, serving
from tests.tools import shipped

module = shipped.load("tavily")


async def search(base: str | None) -> ToolMessage:
    """Call a tool that looks there."""
    return await run(module.TavilySearch(api_base_url=base), {"query": "heron"})


@pytest.fixture(autouse=True)
def _set_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-key")
    monkeypatch.delenv("TAVILY_API_BASE_URL", raising=False)


@pytest.mark.parametrize(
    "base", ["api.tavily.com", "ftp://api.tavily.com", "http://0177.0.0.1", "https://", "http://a b"]
)
async def test_an_address_that_is_no_url_says_so(base: str) -> None:
    """With what to check."""
    assert (await search(base)).content == "The address of Tavily is not a URL. Check TAVILY_API_BASE_URL."


async def test_an_address_that_the_operator_sets_may_be_private(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name too."""
    resolve(monkeypatch, lambda _: ["127.0.0.1"])

    with serving() as site:
        message = await search(f"http://tavily.corp:{site.port}/base")

    # It was reached; it takes no POST.
    assert str(message.content).startswith("Tavily failed (HTTP 501).")


async def test_tavily_itself_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or it is somebody else."""
    resolve(monkeypatch, lambda _: ["10.0.0.7"])

    assert str((await search(None)).content).startswith("Refused: api.tavily.com is not on the public Internet.")
