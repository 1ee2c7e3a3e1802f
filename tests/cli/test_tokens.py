"""What definitions take of a context is estimated without a tokenizer."""

from typing import Any

from sidecall import HostedMCPTool, WebSearchTool, tool
from sidecall.cli.tools import estimate_tokens
from tests.kit.tools import add, ping


def test_longer_definitions_take_more() -> None:
    """An estimate keeps their order, and their size."""

    @tool
    def long(options: dict[str, Any]) -> str:
        """Do something with options that takes a whole sentence to say."""
        return str(options)

    counts = [estimate_tokens(it.compiled) for it in (ping, add, long)]

    assert counts == sorted(counts[:2]) + counts[2:]
    assert 10 < counts[0] < 30 < counts[1] < 90


def test_a_tool_that_a_provider_runs_counts_with_its_declaration() -> None:
    """Which is what the program sends."""
    brief, long = WebSearchTool(), HostedMCPTool({"server_label": "gitmcp", "server_url": "https://gitmcp.io/openai"})

    assert [estimate_tokens(it.compiled) for it in (brief, long)] == [15, 23]
