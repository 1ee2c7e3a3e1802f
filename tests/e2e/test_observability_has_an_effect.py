"""What a span tells is up to the operator."""

import json
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.collector import Collector

TOOL = '''
from sidecall import tool


@tool
async def sign(text: str, api_key: str) -> str:
    """Sign."""
    return "signed"
'''


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        pytest.param({}, {}, id="as it comes"),
        pytest.param(
            {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
            {
                "gen_ai.tool.call.arguments": {"text": "hi", "api_key": "[redacted]"},
                "gen_ai.tool.call.result": "signed",
            },
            id="wanted",
        ),
    ],
)
def test_arguments_and_results_are_told_where_that_is_wanted(
    start_server: Serve, collector: Collector, tmp_path: Path, environment: dict[str, str], told: dict[str, object]
) -> None:
    """Without secrets, and else not at all."""
    (tmp_path / "mine.py").write_text(TOOL)
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, **environment}
    server = start_server("--tools", str(tmp_path / "mine.py"), **settings)

    call = {"name": "sign", "args": {"text": "hi", "api_key": "s3cret"}, "id": "call_1"}
    httpx.post(f"{server.url}/tool_calls", json=call).raise_for_status()
    server.stop()
    attributes = {it.key: it.value.string_value for it in collector.by_name["execute_tool sign"].attributes}
    content = {key: json.loads(attributes[key]) for key in attributes.keys() & {*told, "gen_ai.tool.call.arguments"}}

    assert content == told
