"""A tool whose schema is of any draft is listed everywhere, and its calls are held to what was written."""

import json
import socket
from typing import Any

import jsonschema_rs
import pytest

from sidecall import BaseTool, tool
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.schema.forms.definitions import FORMATS
from sidecall.kernel.schema.references import list_schemas
from tests.compiler.normal.table import ELSEWHERE, INT, REFUSED, STR, TABLE, take
from tests.features.mcp_server.messages import head, write
from tests.kit.calls import run
from tests.kit.clients import MakeClient


def make(name: str, schema: dict[str, Any]) -> BaseTool:
    """Make a tool that answers with what it got."""

    def give(**given: Any) -> Any:
        return given

    return tool(name, args_schema=schema, description="Give back.")(give)


MADE = {name: make(name, it.schema) for name, it in TABLE.items()}


@pytest.mark.parametrize("name", TABLE)
async def test_what_the_schema_takes_is_taken(name: str) -> None:
    """As it was sent, and nothing else."""
    _, fitting, unfit = TABLE[name]

    answers = [await run(MADE[name], args) for args in fitting]
    refused = [await run(MADE[name], args) for args in unfit]

    assert [json.loads(str(it.content)) for it in answers] == fitting
    assert [it.response_metadata["error"]["kind"] for it in refused] == ["invalid_arguments"] * len(unfit)


@pytest.mark.parametrize("strict", ["", "&strict=true"])
@pytest.mark.parametrize("form", FORMATS)
async def test_every_list_has_them_all(make_client: MakeClient, form: str, strict: str) -> None:
    """In every form, with schemas that are some."""
    client = await make_client(*MADE.values())

    answer = await client.get(f"/tools?format={form}{strict}")

    assert answer.status_code == 200
    listed = answer.json()
    if form == "gemini":
        listed = [declaration for it in listed for declaration in it["functionDeclarations"]]
    assert len(listed) == len(TABLE)
    if form != "gemini":  # Whose schemas are of a kind of their own.
        for schema in map(_find_schema, listed):
            jsonschema_rs.meta.validate(schema)
            assert all(it["$ref"].startswith("#") for it in list_schemas(schema) if "$ref" in it)


def _find_schema(listed: Any) -> Any:
    listed = listed.get("function", listed)
    return next((listed[key] for key in ("parameters", "input_schema", "inputSchema") if key in listed), listed)


@pytest.mark.parametrize("name", TABLE)
async def test_each_is_shown_and_called_at_every_door(make_client: MakeClient, name: str) -> None:
    """Its page, its operation, its call by path, and that of MCP."""
    client = await make_client(MADE[name])
    args = TABLE[name].fitting[0]
    asked = write("tools/call", name=name, arguments=args)
    listing = write("tools/list")

    shown = await client.get(f"/tools/{name}")
    document = await client.get("/openapi/tools.json")
    called = await client.post(f"/tools/{name}/call", json=args)
    over_mcp = (await client.post("/mcp", json=asked, headers=head(asked))).json()["result"]
    listed = (await client.post("/mcp", json=listing, headers=head(listing))).json()["result"]["tools"]

    assert shown.status_code == document.status_code == 200
    assert shown.json()["args_schema"]["type"] == "object"
    assert json.loads(called.json()) == args
    assert json.loads(over_mcp["content"][0]["text"]) == args
    assert [it["name"] for it in listed] == [name]


async def test_an_argument_that_is_false_is_none() -> None:
    """It is not listed, and one who sends it reads which there are."""
    made = make("made", take({"a": INT, "b": False}))

    message = await run(made, {"a": 1, "b": 2})

    assert made.compiled.args_schema.flat == take({"a": INT})
    assert message.content == "b: There is no such argument; the arguments are: a"


@pytest.mark.parametrize(
    ("schema", "flat"),
    [
        (
            take({"p": {"$ref": "#A"}}, **{"$defs": {"x": {"$anchor": "A", **INT}}}),
            take({"p": {"$anchor": "A", **INT}}),
        ),
        (
            take({"p": {"type": "array", "items": [INT, STR], "additionalItems": False}}),
            take({"p": {"type": "array", "prefixItems": [INT, STR], "items": {}, "maxItems": 2}}),
        ),
        (
            take({"p": {"type": "object", "propertyNames": {"maxLength": 3}, "properties": {"q": False}}}),
            take({"p": {"type": "object", "propertyNames": {"maxLength": 3}, "properties": {}}}),
        ),
        (take({"p": {**INT, "minimum": 0, "exclusiveMinimum": True}}), take({"p": {**INT, "exclusiveMinimum": 0}})),
    ],
)
def test_models_read_the_words_of_2020_12(schema: dict[str, Any], flat: dict[str, Any]) -> None:
    """With references in place."""
    assert make("made", schema).compiled.args_schema.flat == flat


async def test_defaults_of_list_items_are_filled_in() -> None:
    """Each place has its own."""
    point = take({"x": {**INT, "default": 1}})
    made = make("made", take({"p": {"type": "array", "items": [point, take({"y": {**INT, "default": 2}})]}}))

    assert json.loads(str((await run(made, {"p": [{}, {}, {}]})).content)) == {"p": [{"x": 1}, {"y": 2}, {}]}


def test_a_long_chain_of_definitions_stays_one() -> None:
    """Put in place, it would be nested more deeply than anything takes."""
    links = {f"L{i}": take({"next": {"$ref": f"#/$defs/L{i + 1}"}}) for i in range(400)}
    schema = take({"a": {"$ref": "#/$defs/L0"}}, **{"$defs": {**links, "L400": INT}})

    assert make("made", schema).compiled.args_schema.flat == schema


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_elsewhere_stops_the_start_unfetched(name: str) -> None:
    """With the tool, its file, the place and the reason; nobody is asked for it."""
    schema, words = REFUSED[name]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = f"//127.0.0.1:{listener.getsockname()[1]}"
        schema, words = (json.loads(json.dumps(it).replace(ELSEWHERE, here)) for it in (schema, words))
        made = make("made", take({"p": schema}))

        with pytest.raises(SchemaInferenceError) as caught:
            assert made.compiled

        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()

    assert "test_json_args_schema_foreign.py" in caught.value.message
    assert "tool 'made': args_schema: " in caught.value.message
    assert words in caught.value.message
