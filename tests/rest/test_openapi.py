"""The OpenAPI document is committed, complete, and its examples work."""

import json
from collections.abc import Iterator
from operator import floordiv, mul
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from sidecall import Registry, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.clients import MakeClient
from tests.rest.operation_names import NAMES

DOCUMENT: dict[str, Any] = create_app(Settings(toolkits=("file_search",)), Registry()).openapi()
COMMITTED = Path(__file__).parents[2] / "openapi" / "openapi.json"
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}


@tool
def calculator(expression: str) -> int:
    """Evaluate an arithmetic expression.

    Args:
        expression: What to calculate.
    """
    left, sign, right = expression.split()
    return {"*": mul, "/": floordiv}[sign](int(left), int(right))


@tool
def current_time(timezone: str = "UTC") -> str:
    """Tell the time.

    Args:
        timezone: Where.
    """
    return f"noon in {timezone}"


def _request_examples(operation_id: str) -> dict[str, Any]:
    content = OPERATIONS[operation_id][2]["requestBody"]["content"]["application/json"]
    return {name: example["value"] for name, example in content["examples"].items()}


def _validator(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})


def _examples() -> Iterator[Any]:
    """Yield every example of a body, with the schema it stands beside."""
    for operation_id, (_, _, operation) in OPERATIONS.items():
        bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
        for status, body in bodies.items():
            content = body.get("content", {}).get("application/json", {})
            for name, example in content.get("examples", {}).items():
                yield pytest.param(content["schema"], example["value"], id=f"{operation_id}-{status}-{name}")


def test_the_committed_document_is_the_generated_one() -> None:
    """What clients read in the repository is what the server says; `make openapi` writes it."""
    committed = json.loads(COMMITTED.read_text())

    assert committed == DOCUMENT


def test_the_document_is_valid() -> None:
    """By the rules of the version that it names."""
    document = json.loads(COMMITTED.read_text())

    assert document["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


async def test_the_server_answers_with_the_document(make_client: MakeClient) -> None:
    """It does not depend on the tools."""
    client = await make_client(calculator, toolkits=("file_search",))

    first = (await client.get("/openapi.json")).json()
    second = (await client.get("/openapi.json")).json()

    assert first == second == DOCUMENT


def test_every_operation_has_a_stable_name() -> None:
    """Generated clients are named by them."""
    names = {operation_id: f"{method} {path}" for operation_id, (method, path, _) in OPERATIONS.items()}

    assert names == NAMES


@pytest.mark.parametrize(
    ("operation_id", "statuses"),
    [
        ("list_tools", {"200", "304", "400", "403", "421", "422"}),
        ("get_tool", {"200", "400", "403", "404", "421"}),
        ("create_tool_call", {"200", "202", "400", "403", "413", "415", "421", "422", "500", "503"}),
        ("create_tool_call_batch", {"200", "400", "403", "413", "415", "421", "422"}),
        ("list_approvals", {"200", "400", "422"}),
        ("get_approval", {"200", "400", "404", "422"}),
        ("get_content", {"200", "206", "304", "400", "404", "416", "422"}),
        ("create_content", {"201", "400", "413", "415", "503"}),
        ("delete_content", {"204", "400", "404", "503"}),
        ("decide_approval", {"200", "400", "404", "409", "413", "415", "422"}),
        ("get_health", {"200"}),
        ("get_readiness", {"200"}),
        ("get_metrics", {"200", "403", "421"}),
        ("get_status", {"200", "400", "403", "421"}),
    ],
)
def test_every_answer_is_documented(operation_id: str, statuses: set[str]) -> None:
    """A client knows what it may meet."""
    assert statuses <= set(OPERATIONS[operation_id][2]["responses"])


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_every_error_is_documented_as_a_problem(operation_id: str) -> None:
    """FastAPI's own error model is nowhere."""
    responses = OPERATIONS[operation_id][2]["responses"]
    errors = {status: response["content"] for status, response in responses.items() if status >= "400"}

    assert errors == {
        status: {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}} for status in errors
    }


def test_an_unchanged_listing_has_no_body() -> None:
    """304 is documented without content."""
    assert "content" not in OPERATIONS["list_tools"][2]["responses"]["304"]


def test_the_models_are_those_that_are_used() -> None:
    """No orphan is left, and no reference leads nowhere."""
    text = json.dumps(DOCUMENT)
    unused = [name for name in DOCUMENT["components"]["schemas"] if f'"#/components/schemas/{name}"' not in text]
    missing = [
        reference
        for reference in {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
        if reference not in DOCUMENT["components"]["schemas"]
    ]

    assert unused == []
    assert missing == []


@pytest.mark.parametrize("operation_id", ["create_tool_call", "create_tool_call_batch"])
def test_bodies_read_as_bytes_are_described_too(operation_id: str) -> None:
    """The forms of a call are in the document, though the routes read bytes."""
    body = OPERATIONS[operation_id][2]["requestBody"]
    schema = body["content"]["application/json"]["schema"]

    assert body["required"] is True
    options = schema["anyOf"][0]["items"]["anyOf"] if operation_id == "create_tool_call_batch" else schema["anyOf"]
    assert [option["$ref"].rpartition("/")[2] for option in options] == [
        "LangChainToolCall",
        "OpenAIToolCall",
        "ResponsesFunctionCall",
        "AnthropicToolUse",
        "GeminiFunctionCallPart",
        "OpenAICustomCall",
        "CustomToolCall",
        "ShellCall",
        "LocalShellCall",
        "ApplyPatchCall",
        "ComputerCall",
        "ToolSearchCall",
        "MCPApprovalRequest",
        "GeminiFunctionCallStep",
    ]


def test_a_decision_is_described_too() -> None:
    """Its route reads bytes as well."""
    body = OPERATIONS["decide_approval"][2]["requestBody"]

    assert body["required"] is True
    assert body["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ApprovalDecision"}


@pytest.mark.parametrize(("schema", "example"), list(_examples()))
def test_every_example_fits_its_schema(schema: dict[str, Any], example: Any) -> None:
    """What the explorer shows is what the schema says."""
    assert [error.message for error in _validator(schema).iter_errors(example)] == []


@pytest.mark.parametrize(
    ("name", "status", "content"),
    [
        ("langchain", "success", "42"),
        ("clock", "success", "noon in Asia/Tokyo"),
        ("failure", "error", "expresion: There is no such argument; did you mean expression?"),
    ],
)
async def test_the_examples_of_calls_run(make_client: MakeClient, name: str, status: str, content: str) -> None:
    """A person who presses the button sees what the example promises."""
    client = await make_client(calculator, current_time)

    message = (await client.post("/tool_calls", json=_request_examples("create_tool_call")[name])).json()

    assert message["status"] == status
    assert message["content"] == content


@pytest.mark.parametrize("name", ["openai", "openai-responses", "anthropic", "gemini"])
async def test_the_examples_of_dialects_answer_as_shown(make_client: MakeClient, name: str) -> None:
    """The example of the answer is what the example of the request gets."""
    client = await make_client(calculator)
    shown = OPERATIONS["create_tool_call"][2]["responses"]["200"]["content"]["application/json"]["examples"][name]

    answer = (await client.post("/tool_calls", json=_request_examples("create_tool_call")[name])).json()

    assert answer == shown["value"]


async def test_every_example_of_a_call_is_tried_above() -> None:
    """A new example has to be added to the tables of this file."""
    assert set(_request_examples("create_tool_call")) == {
        *("langchain", "openai", "openai-responses", "anthropic", "gemini"),
        *("clock", "failure"),
    }


async def test_the_examples_of_batches_run(make_client: MakeClient) -> None:
    """One of two calls fails, and mixed forms are answered each in its own."""
    client = await make_client(calculator)
    examples = _request_examples("create_tool_call_batch")

    turn = (await client.post("/tool_calls/batch", json=examples["turn"])).json()
    mixed = (await client.post("/tool_calls/batch", json=examples["mixed"])).json()

    assert set(examples) == {"turn", "mixed"}
    assert [message["status"] for message in turn] == ["success", "error"]
    assert [answer["content"] for answer in mixed] == ["42", "42"]


@tool(requires_approval=True)
async def delete_order(order: int) -> str:
    """Delete an order.

    Args:
        order: Its number.
    """
    return f"Deleted order {order}."


@pytest.mark.parametrize(
    ("name", "status", "content"),
    [
        ("approve", "approved", "Deleted order 7."),
        ("edit", "approved", "Deleted order 8."),
        ("reject", "rejected", "Ask the customer for the order number first."),
    ],
)
async def test_the_examples_of_decisions_decide(make_client: MakeClient, name: str, status: str, content: str) -> None:
    """About the call of the example of an approval."""
    client = await make_client(delete_order)
    examples = OPERATIONS["get_approval"][2]["responses"]["200"]["content"]["application/json"]["examples"]
    waiting = await client.post("/tool_calls", json=examples["pending"]["value"]["tool_call"])

    approval = (await client.post(waiting.headers["Location"], json=_request_examples("decide_approval")[name])).json()

    assert (approval["status"], approval["message"]["content"]) == (status, content)
    assert set(_request_examples("decide_approval")) == {"approve", "edit", "reject"}
    assert approval.keys() == waiting.json().keys() | {"tool_state", "tool_description", "args_schema"}
