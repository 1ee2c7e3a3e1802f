"""Google's own SDK takes the definitions and the answers, and its calls are understood."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bench.environments import ROOT
from tests.client.said import CONTENT, GEMINI, GEMINI_CHUNKS
from tests.e2e.clients.conftest import run_beside
from tests.e2e.conftest import Serve
from tests.e2e.models import running_models
from tests.kit.gemini import find_offences
from tests.kit.servers import CLIENT, Server

HERE = Path(__file__).parent
PNG = {"mimeType": "image/png", "data": "-vv8_f7_"}  # It writes base64 in the letters of URLs, which Google reads too.
PDF = {"mimeType": "application/pdf", "data": "JVBERi0xLjc=", "displayName": "a.pdf"}


@pytest.fixture(scope="module")
def given(wide: Server) -> dict[str, Any]:
    """What the server lists and answers."""
    calls = [{"functionCall": {"id": name, "name": name, "args": {}}} for name in ("draw", "fail", "nope")]
    calls += [{"functionCall": {"id": "sum", "name": "calculator", "args": {"expression": "6 * 7"}}}]
    answers = CLIENT.post(f"{wide.url}/tool_calls/batch", json=calls).json()
    steps: list[dict[str, Any]] = [
        {"type": "function_call", "id": name, "name": name, "arguments": {}} for name in ("draw", "fail")
    ]
    results = CLIENT.post(f"{wide.url}/tool_calls/batch", json=steps).json()
    tools = CLIENT.get(f"{wide.url}/tools", params={"format": "gemini"}).json()
    return {"tools": tools, "answers": answers, "steps": results}


@pytest.fixture(scope="module")
def written(for_google: Path, given: dict[str, Any]) -> Any:
    """What the SDK would send of it."""
    return json.loads(run_beside(for_google, [str(HERE / "use_google.py")], json.dumps(given)))


def test_the_definitions_are_read_whole(written: Any, given: dict[str, Any]) -> None:
    """Nothing is dropped; only the names of types are written in capitals."""
    assert written["tools"] == _in_capitals(given["tools"])
    (tools,) = given["tools"]
    named = [declaration["name"] for declaration in tools["functionDeclarations"]]
    assert named == ["order", "draw", "fail", "calculator", "current_time", "convert_time", "tavily_search"]
    assert [it for it in _arrays(tools) if not it.get("items")] == []  # which Google refuses, although its types do not


def test_the_answers_are_read_whole(written: Any) -> None:
    """A text, an error, and images and files, with their bytes or their addresses."""
    draw, fail, nope, total = (answer["functionResponse"] for answer in written["answers"])

    assert draw == {
        "id": "draw",
        "name": "draw",
        "response": {"output": "Drawn."},
        "parts": [
            {"inlineData": PNG},
            {"fileData": {"mimeType": "image/png", "fileUri": "https://x.test/a.png"}},
            {"inlineData": PDF},
            {"inlineData": {"mimeType": "text/plain", "data": "aGVsbG8="}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.test/a.pdf"}},
        ],
    }
    assert fail == {"id": "fail", "name": "fail", "response": {"error": "No pencil."}}
    assert nope["response"]["error"].startswith("Error: nope is not a valid tool")
    assert total == {"id": "sum", "name": "calculator", "response": {"output": "42"}}


def test_steps_are_answered_with_steps(written: Any, given: dict[str, Any]) -> None:
    """Of the Interactions API, under their own ids."""
    assert written["steps"] == given["steps"]
    draw, fail = given["steps"]
    assert (draw["call_id"], draw["result"][0]) == ("draw", {"type": "text", "text": "Drawn."})
    assert {block["type"] for block in draw["result"][1:]} == {"image"}
    assert fail == {"type": "function_result", "call_id": "fail", "name": "fail", "result": "No pencil.",
                    "is_error": True}  # fmt: skip


def test_a_call_is_understood_however_the_sdk_writes_it(written: Any, wide: Server) -> None:
    """With all its empty members, and under both spellings of its names."""
    answers = CLIENT.post(f"{wide.url}/tool_calls/batch", json=written["calls"]).json()

    assert len(answers) == 3
    assert [answer["functionResponse"]["response"] for answer in answers] == [{"output": "Drawn."}] * 3
    assert {answer["functionResponse"]["id"] for answer in answers} == {"c1"}


def test_the_loop_of_the_document_runs(for_google: Path, wide: Server) -> None:
    """On the real SDK, against a model of ours."""
    page = (ROOT / "docs/http.md").read_text().partition("### A loop with Gemini")[2]
    code = re.search(r"```python no-test\n(.*?)```", page, re.DOTALL)
    assert code is not None
    program = code[1].replace("http://127.0.0.1:8000", wide.url)
    with running_models() as url:
        settings = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}
        assert run_beside(for_google, ["-c", program], **settings) == "The result is 11.0.\n"


@pytest.fixture(scope="module")
def foreign(start_server: Serve) -> Server:
    """A server whose tools have schemas with what Gemini's have no place for."""
    return start_server("--tools", str(HERE / "foreign_tools.py"), "--tools", str(HERE / "wide_tools.py"))


@pytest.mark.parametrize("strict", ["false", "true"])
def test_a_model_is_asked_with_the_list(for_google: Path, foreign: Server, strict: str) -> None:
    """The SDK's `generate_content` takes the array as it is, and the API would take what it sends."""
    listed = CLIENT.get(f"{foreign.url}/tools", params={"format": "gemini", "strict": strict}).json()

    with running_models() as url:
        settings = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}
        asked = run_beside(for_google, [str(HERE / "use_gemini_schemas.py")], json.dumps(listed), **settings)

    # It writes keywords of two words in both ways, and the API reads both.
    assert json.loads(re.sub(r'"(any|min|max)_([a-z]+)":', lambda it: f'"{it[1]}{it[2].capitalize()}":', asked)) == (
        _in_capitals(listed)
    )
    declared = listed[0]["functionDeclarations"]
    assert [it["name"] for it in declared][:4] == ["choose", "either", "shapes", "odd"]
    assert [text for it in declared if "parameters" in it for text in find_offences(it["parameters"], it["name"])] == []


YES = {"yes": True}
ODD = {"text": "a", "missing": 1}


@pytest.mark.parametrize(
    ("name", "args", "output"),
    [
        ("choose", YES, "(True, <Level.LOW: 1>, None, 'a', 'b', [], 1)"),
        ("choose", {**YES, "level": "2"}, "(True, <Level.HIGH: 2>, None, 'a', 'b', [], 1)"),
        ("choose", {**YES, "number": "1"}, "(True, <Level.LOW: 1>, 1, 'a', 'b', [], 1)"),
        ("choose", {**YES, "number": "2.5"}, "(True, <Level.LOW: 1>, 2.5, 'a', 'b', [], 1)"),
        ("choose", {**YES, "number": None}, "(True, <Level.LOW: 1>, None, 'a', 'b', [], 1)"),
        ("choose", {**YES, "mixed": 1}, "(True, <Level.LOW: 1>, None, 1, 'b', [], 1)"),
        ("choose", {**YES, "mixed": True}, "(True, <Level.LOW: 1>, None, True, 'b', [], 1)"),
        ("choose", {**YES, "maybe": None}, "(True, <Level.LOW: 1>, None, 'a', None, [], 1)"),
        ("choose", {**YES, "many": ["1", "2"]}, "(True, <Level.LOW: 1>, None, 'a', 'b', [1, 2], 1)"),
        ("choose", {**YES, "also": {"a": 1}}, "(True, <Level.LOW: 1>, None, 'a', 'b', [], {'a': 1})"),
        ("either", {"route": "r"}, "{'route': 'r'}"),
        ("shapes", {"side": 2}, "{'side': 2}"),
        ("shapes", {"radius": None}, "{'radius': None}"),
        ("odd", {**ODD, "text": None}, "{'text': None, 'missing': 1}"),
        ("odd", {**ODD, "text": "", "switch": False}, "{'text': '', 'missing': 1, 'switch': False}"),
        (
            "odd",
            {**ODD, "number": "1", "more": {"a": "7"}},
            "{'text': 'a', 'missing': 1, 'number': 1, 'more': {'a': 7}}",
        ),
        ("odd", {**ODD, "few": "3", "whole": 2}, "{'text': 'a', 'missing': 1, 'few': 3, 'whole': 2}"),
    ],
)
def test_what_is_offered_is_taken(foreign: Server, name: str, args: dict[str, Any], output: str) -> None:
    """Each value of a choice is the one that the tool knows."""
    answer = CLIENT.post(f"{foreign.url}/tool_calls", json={"functionCall": {"name": name, "args": args}}).json()

    assert answer["functionResponse"]["response"] == {"output": output}


def _in_capitals(node: Any) -> Any:
    if isinstance(node, list):
        return [_in_capitals(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: value.upper() if key == "type" and isinstance(value, str) else _in_capitals(value)
        for key, value in node.items()
    }


def _arrays(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for item in node for found in _arrays(item)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "array" else []
    return own + [found for value in node.values() for found in _arrays(value)]


def test_the_python_client_reads_its_answers(for_google: Path) -> None:
    """Whole and in chunks, where nothing of the server is installed; signatures go back as they came."""
    cut = [*GEMINI_CHUNKS[:2], {"candidates": [{"finishReason": "MAX_TOKENS"}]}]
    said = json.dumps({"whole": GEMINI, "chunks": GEMINI_CHUNKS, "cut": cut})

    read = json.loads(run_beside(for_google, [str(HERE / "use_google_turns.py")], said, PYTHONPATH=str(ROOT / "app")))

    response = {"id": "call_1", "name": "double", "response": {"output": "8"}}
    messages = [CONTENT, {"role": "user", "parts": [{"functionResponse": response}]}]
    calls = [{"functionCall": CONTENT["parts"][1]["functionCall"]}]
    assert read[:2] == [{"calls": calls, "messages": messages}] * 2
    assert read[2] == {"calls": [{**calls[0], "status": "incomplete"}], "messages": messages}
