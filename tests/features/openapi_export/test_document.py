"""The tools as an OpenAPI document: valid, complete, and such as its readers take it."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel, Field

from sidecall import ApprovalRequired, Caller, ToolAnnotations, ToolContext, WebSearchTool, tool
from sidecall.features.openapi_export.document import DocumentOptions, write_document
from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient

LOOK = DocumentOptions("https://tools.example")


class Leaf(BaseModel):
    """A leaf."""

    kind: Literal["leaf"] = "leaf"
    size: int


class Branch(BaseModel):
    """A branch."""

    kind: Literal["branch"] = "branch"
    parts: list["Branch | Leaf"] = []


@tool(tags=["math"], annotations=ToolAnnotations(read_only=True))
async def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


@tool
async def grow(branch: Branch) -> Branch:
    """Grow a branch."""
    return branch


@tool
async def now() -> str:
    """Tell the time."""
    return "noon"


@tool(scopes=["orders:write"])
async def write_order(number: int) -> dict[str, int]:
    """Write an order."""
    return {"number": number}


async def read(make_client: MakeClient, query: str = "", **settings: Any) -> dict[str, Any]:
    """Ask a server with these tools for the document."""
    client = await make_client(add, grow, now, write_order, **settings)
    document: dict[str, Any] = (await client.get(f"/openapi/tools.json{query}")).json()
    return document


def operations(document: dict[str, Any]) -> dict[str, Any]:
    """Return the operations by their ids."""
    return {path["post"]["operationId"]: path["post"] for path in document["paths"].values()}


async def test_each_tool_is_an_operation(make_client: MakeClient) -> None:
    """Under its own name, with its texts, its schema among the components, and an example."""
    document = await read(make_client)

    assert list(document["paths"]) == [f"/tools/{name}/call" for name in ("add", "grow", "now", "write_order")]
    assert document["servers"] == [{"url": "http://sidecall"}]
    operation = operations(document)["add"]
    assert {key: operation[key] for key in ("operationId", "summary", "description", "tags")} == {
        "operationId": "add",
        "summary": "Add two numbers.",
        "description": "Add two numbers.",
        "tags": ["math"],
    }
    assert operation["requestBody"] == {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/add_arguments"}, "example": {"a": 1}}
        },
    }
    assert document["components"]["schemas"]["add_arguments"] == {
        "type": "object",
        "properties": {
            "a": {"description": "The first.", "type": "integer"},
            "b": {"default": 2, "description": "The second.", "type": "integer"},
        },
        "required": ["a"],
    }
    assert operation["responses"]["200"]["content"] == {"application/json": {"schema": {"type": "integer"}}}
    # Some clients refuse to send a body without members.
    assert "requestBody" not in operations(document)["now"]


@pytest.mark.parametrize("query", ["", "?for=gpt-actions", "?refs=false", "?refs=false&for=gpt-actions"])
async def test_the_document_is_valid(make_client: MakeClient, query: str) -> None:
    """Also with a schema that refers to itself, and every reference leads somewhere."""
    document = await read(make_client, query)

    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []
    named = set(re.findall(r"#/components/schemas/([^'\"]+)", str(document)))
    assert named <= document["components"]["schemas"].keys()
    assert {"grow_arguments_Branch", "grow_arguments_Leaf"} <= named


async def test_schemas_stand_in_their_places_where_that_is_asked_for(make_client: MakeClient) -> None:
    """For clients that lose what is referred to; what refers to itself stays a component."""
    document = await read(make_client, "?refs=false")

    bodies = {name: it["requestBody"] for name, it in operations(document).items() if "requestBody" in it}
    schemas = {name: body["content"]["application/json"]["schema"] for name, body in bodies.items()}
    assert schemas == {
        "add": {
            "type": "object",
            "properties": {
                "a": {"description": "The first.", "type": "integer"},
                "b": {"default": 2, "description": "The second.", "type": "integer"},
            },
            "required": ["a"],
        },
        "grow": {
            "type": "object",
            "properties": {"branch": {"$ref": "#/components/schemas/grow_arguments_Branch"}},
            "required": ["branch"],
        },
        "write_order": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    }


@pytest.mark.parametrize(("query", "names"), [("?tag=math", ["add"]), ("?name=now&name=add", ["add", "now"])])
async def test_filters_choose_tools(make_client: MakeClient, query: str, names: list[str]) -> None:
    """As those of `GET /tools` do."""
    assert list(operations(await read(make_client, query))) == names


async def test_a_toolset_has_a_document_of_its_own(make_client: MakeClient, tmp_path: Path) -> None:
    """With its name in the title; one that is not there is 404."""
    file = tmp_path / "toolsets.toml"
    file.write_text('[reading]\ntools = ["now", "a*"]\n')
    client = await make_client(add, grow, now, toolsets=file)

    document = (await client.get("/openapi/tools.json?toolset=reading")).json()

    assert (list(operations(document)), document["info"]["title"]) == (["add", "now"], "Sidecall tools: reading")
    assert (await client.get("/openapi/tools.json?toolset=none")).status_code == 404


async def test_a_caller_reads_of_what_it_may_call(make_client: MakeClient, tmp_path: Path) -> None:
    """And by which credentials it calls; without one nobody reads anything."""
    keys = write_keys(tmp_path / "keys.jsonl", {"agent": ("tools:call",), "clerk": ("tools:call", "orders:write")})
    client = await make_client(add, write_order, auth=("api_key",), keys_file=tmp_path / "keys.jsonl")

    for who, names in (("agent", ["add"]), ("clerk", ["add", "write_order"]), ("agent", ["add"])):
        document = (await client.get("/openapi/tools.json", headers=keys[who])).json()
        assert list(operations(document)) == names
    assert document["security"] == [{"bearer": []}, {"apiKey": []}]
    assert document["components"]["securitySchemes"].keys() == {"bearer", "apiKey"}
    assert (await client.get("/openapi/tools.json")).status_code == 401


async def test_it_is_read_again_only_when_it_has_changed(make_client: MakeClient) -> None:
    """By its ETag, which is another one under another name of the server."""
    client = await make_client(add)
    first = await client.get("/openapi/tools.json")

    again = await client.get("/openapi/tools.json", headers={"If-None-Match": first.headers["ETag"]})
    elsewhere = await client.get("/openapi/tools.json", headers={"Host": "localhost"})

    assert (again.status_code, again.content) == (304, b"")
    assert elsewhere.json()["servers"] == [{"url": "http://localhost"}]
    assert elsewhere.headers["ETag"] != first.headers["ETag"]


def test_without_proofs_no_credential_is_named() -> None:
    """A gateway's headers are not the caller's to send."""
    assert "security" not in write_document([add.compiled], LOOK)
    assert "security" not in write_document([add.compiled], DocumentOptions("https://a.example", proofs=("gateway",)))
    with_tokens = write_document([add.compiled], DocumentOptions("https://a.example", proofs=("jwt",)))
    assert with_tokens["security"] == [{"bearer": []}]


def test_chatgpt_gets_texts_as_short_as_it_demands() -> None:
    """300 characters of an operation, 700 of a parameter; others get them whole. Only reading asks nobody."""

    @tool(description="word " * 100)
    async def wordy(text: Annotated[str, Field(description="much " * 200)], rest: dict[str, int] | None = None) -> str:
        return text

    short = write_document([wordy.compiled], DocumentOptions("https://a.example", reader="gpt-actions"))
    whole = write_document([wordy.compiled], LOOK)

    assert len(operations(short)["wordy"]["description"]) <= 300
    assert operations(short)["wordy"]["description"].endswith("word…")
    properties = short["components"]["schemas"]["wordy_arguments"]["properties"]
    assert len(properties["text"]["description"]) <= 700
    assert properties["rest"]["anyOf"][0]["properties"] == {}
    assert operations(whole)["wordy"]["description"] == "word " * 100
    assert operations(whole)["wordy"]["x-openai-isConsequential"] is True
    assert operations(write_document([add.compiled], LOOK))["add"]["x-openai-isConsequential"] is False


def test_what_a_provider_runs_is_left_out() -> None:
    """It cannot be called here."""
    assert write_document([WebSearchTool().compiled, now.compiled], LOOK)["paths"].keys() == {"/tools/now/call"}


def test_open_webui_reads_arguments_out_of_it() -> None:
    """It puts the target of a reference to the components in its place, and knows no other reference."""
    document = write_document([add.compiled, grow.compiled], LOOK)
    schemas = document["components"]["schemas"]

    def resolve(node: Any, passed: frozenset[str] = frozenset()) -> Any:
        if isinstance(node, list):
            return [resolve(item, passed) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].removeprefix("#/components/schemas/")
            return {} if name in passed else resolve(schemas[name], passed | {name})
        return {key: resolve(value, passed) for key, value in node.items()}

    bodies = [it["requestBody"]["content"]["application/json"]["schema"] for it in operations(document).values()]
    resolved = [resolve(body) for body in bodies]

    assert [list(body["properties"]) for body in resolved] == [["a", "b"], ["branch"]]
    assert resolved[1]["properties"]["branch"]["properties"]["kind"]["const"] == "branch"


async def test_a_tool_that_asks_who_calls_is_shown_to_whom_it_is_for(make_client: MakeClient) -> None:
    """By the caller and the context that `GET /tools` takes, too; nothing of it is remembered."""

    def is_for(context: ToolContext) -> bool:
        return isinstance(context.caller, Caller) and context.context.get("plan") == "pro"

    @tool(is_enabled=is_for)
    async def export() -> str:
        """Export."""
        return "done"

    client = await make_client(export)
    plain = (await client.get("/openapi/tools.json")).json()
    asked = (await client.get("/openapi/tools.json", headers={"X-Sidecall-Context": '{"plan": "pro"}'})).json()

    assert (plain["paths"], list(asked["paths"])) == ({}, ["/tools/export/call"])


@tool
async def plain_one() -> int:
    """Count."""
    return 1


@tool(requires_approval=True)
async def asked_about() -> int:
    """Count, once a person has said so."""
    return 1


@tool(requires_approval=lambda args: bool(args))
async def perhaps_asked_about() -> int:
    """Count, perhaps once a person has said so."""
    return 1


@tool
async def asking() -> int:
    """Ask a person."""
    raise ApprovalRequired("May I?")


@tool(background=True)
async def long_one() -> int:
    """Count for long."""
    return 1


async def test_only_what_may_wait_is_answered_with_202(make_client: MakeClient) -> None:
    """So that a generated client gives the plain result of all others."""
    client = await make_client(plain_one, asked_about, perhaps_asked_about, asking, long_one)

    paths = (await client.get("/openapi/tools.json")).json()["paths"]

    assert [
        name
        for name in ("plain_one", "asked_about", "perhaps_asked_about", "asking", "long_one")
        if "202" in paths[f"/tools/{name}/call"]["post"]["responses"]
    ] == ["asked_about", "perhaps_asked_about", "asking", "long_one"]
