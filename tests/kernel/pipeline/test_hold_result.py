"""A result is one value at every door, or one failure."""

import datetime
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import httpx
import pytest
from pydantic import BaseModel

from sidecall import Cache, Registry, Secret, ToolMessage, tool
from sidecall.kernel.core.guardrails import ToolGuardrailFunctionOutput, tool_output_guardrail
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.mcp_server.messages import ask
from tests.kit.clients import MakeClient

DIALECTS = ("langchain", "openai", "openai-responses", "anthropic", "gemini")


class City(BaseModel):
    """A city."""

    name: str
    founded: datetime.date | None = None


def make(returns: Any, value: Any, **options: Any) -> Any:
    """Make a tool that promises one thing and returns another."""

    async def give() -> Any:
        """Give it."""
        return value() if callable(value) else value

    give.__annotations__["return"] = returns
    return tool(**options)(give)


async def call_mcp(client: httpx.AsyncClient, **args: Any) -> dict[str, Any]:
    """Call the tool over MCP."""
    result: dict[str, Any] = (await ask(client, "tools/call", name="give", arguments=args)).json()["result"]
    return result


async def call_rest(client: httpx.AsyncClient, **args: Any) -> dict[str, Any]:
    """Call it over REST."""
    message: dict[str, Any] = (await client.post("/tool_calls", json={"name": "give", "args": args, "id": "c"})).json()
    return message


DAY = datetime.date(2030, 1, 2)


@pytest.mark.parametrize(
    ("returns", "value", "text", "expected"),
    [
        (str | None, "null", "null", "null"),
        (str | None, None, "null", None),
        (str | None, '"q"', '"q"', '"q"'),
        (str | int, "12", "12", "12"),
        (int | str, "12", "12", "12"),
        (int | str, 12, "12", 12),
        (str | bool, "true", "true", "true"),
        (str | list[int], "[1]", "[1]", "[1]"),
        (str | dict[str, int], '{"a": 1}', '{"a": 1}', '{"a": 1}'),
        (str | City, City(name="1"), '{"name": "1", "founded": null}', {"name": "1", "founded": None}),
        (Literal["1", 2], "1", "1", "1"),
        (datetime.date, DAY, "2030-01-02", "2030-01-02"),
        (datetime.date | int, DAY, "2030-01-02", "2030-01-02"),
        (list[str], ["null", "1"], ["null", "1"], ["null", "1"]),
        (list[str | None], ["null", None], '["null", null]', ["null", None]),
        (dict[str, Any], {"b": ["1", DAY]}, '{"b": ["1", "2030-01-02"]}', {"b": ["1", "2030-01-02"]}),
        (City, City(name="null"), '{"name": "null", "founded": null}', {"name": "null", "founded": None}),
        (list[City], [], "[]", []),
        (dict[int, int], {1: 2}, '{"1": 2}', {"1": 2}),
        (tuple[int, str], (1, "1"), '[1, "1"]', [1, "1"]),
        # what pydantic makes of it is what every door has
        (bool, 1, "true", True),
        (int, True, "1", 1),
        (int, 1.0, "1.0", 1.0),
        (int, "12", "12", 12),
        (float, "1.5", "1.5", 1.5),
        (list[int], ["1"], "[1]", [1]),
    ],
)  # fmt: skip
async def test_the_value_is_the_one_that_was_returned(
    make_client: MakeClient, returns: Any, value: Any, text: Any, expected: Any
) -> None:
    """And never read back from its text."""
    client = await make_client(make(returns, value))

    message, result = await call_rest(client), await call_mcp(client)
    structured = result["structuredContent"]
    structured = structured["result"] if structured.keys() == {"result"} else structured
    plain = (await client.post("/tools/give/call")).json()

    assert (message["status"], message["content"], result["isError"]) == ("success", text, False)
    assert (structured, type(structured), plain, type(plain)) == (expected, type(expected)) * 2


@pytest.mark.parametrize(
    ("returns", "value", "why"),
    [
        (bool, 2, '2 is not of type "boolean"'),
        (int, "many", '"many" is not of type "integer"'),
        (float, math.nan, "NaN as the content, which JSON has not"),
        (float, math.inf, "Infinity as the content, which JSON has not"),
        (list[float], [1.0, math.nan], "NaN at `[1]`, which JSON has not"),
        (dict[str, int], ["a"], '["a"] is not of type "object"'),
        (City, {"founded": None}, '"name" is a required property'),
        (int, ToolMessage(content="many"), '"many" is not of type "integer"'),
    ],
)
async def test_what_does_not_fit_fails_at_every_door(
    make_client: MakeClient, returns: Any, value: Any, why: str
) -> None:
    """In the same words."""
    client = await make_client(make(returns, value))
    words = f"Error: give returned something else than its output schema says: {why}."

    message, result = await call_rest(client), await call_mcp(client)
    plain = await client.post("/tools/give/call")
    batch = (await client.post("/tool_calls/batch", json=[{"name": "give", "args": {}, "id": "c"}])).json()

    assert (message["status"], message["content"]) == ("error", words)
    assert message["response_metadata"]["error"]["kind"] == "output_error"
    assert (result["isError"], result["content"]) == (True, [{"type": "text", "text": words}])
    assert "structuredContent" not in result
    assert (plain.status_code, plain.json()["detail"]) == (500, words)
    assert batch[0]["content"] == words


@pytest.mark.parametrize("value", [math.nan, {"a": [math.nan]}], ids=["alone", "inside"])
async def test_a_number_that_json_lacks_is_null_where_that_fits(make_client: MakeClient, value: Any) -> None:
    """As the note says."""
    client = await make_client(make(float | None | dict[str, Any], value))
    null = None if isinstance(value, float) else {"a": [None]}

    message, result = await call_rest(client), await call_mcp(client)

    assert (message["status"], len(message["response_metadata"]["notes"])) == ("success", 1)
    assert result["structuredContent"] == {"result": null}


async def parts_later() -> AsyncIterator[str]:
    """Give no part."""
    for part in ():
        yield part


def parts() -> Iterator[int]:
    """Give none."""
    yield from ()


@pytest.mark.parametrize(
    "made",
    [
        make(list[str], []),
        make(list[City], list),
        make(Any, ()),
        make(Any, set),
        make(tuple[list[str], dict[str, int]], lambda: ([], {"a": 1}), response_format="content_and_artifact"),
        make(Any, lambda: ToolMessage(content=[])),
        tool("give")(parts),
        tool("give")(parts_later),
    ],
    ids="list models tuple set pair message generator async-generator".split(),
)
async def test_nothing_in_a_list_is_said_in_every_dialect(make_client: MakeClient, made: Any) -> None:
    """Providers refuse an answer without content, or their models see none."""
    client = await make_client(made)
    call = {"name": "give", "args": {}, "id": "c"}

    said = [(await client.post(f"/tool_calls?format={it}", json=call)).json() for it in DIALECTS]
    result = await call_mcp(client)

    contents = [said[0]["content"], said[1]["content"], said[2]["output"], said[3]["content"]]
    assert contents == ["[]"] * 4
    assert "[]" in str(said[4])
    assert result["content"] == [{"type": "text", "text": "[]"}]


@pytest.mark.parametrize("returns", [str | None, Any])
async def test_a_key_gives_the_same_value_again(make_client: MakeClient, returns: Any) -> None:
    """No matter at which door the call was made first."""
    client = await make_client(make(returns, "null"))
    headers = {"Idempotency-Key": "k"}

    first = await client.post("/tools/give/call", headers=headers)
    again = await client.post("/tools/give/call", headers=headers)

    assert (first.json(), again.json(), again.headers["Idempotency-Replayed"]) == ("null", "null", "true")


async def test_an_approved_call_keeps_its_value(make_client: MakeClient) -> None:
    """In the store of approvals, and at the door where it is sent again."""
    client = await make_client(make(str | int, "12", requires_approval=True))
    meta = {"sidecall/tool_call_id": "c1"}

    waits = (await ask(client, "tools/call", meta, name="give", arguments={})).json()["result"]
    found = waits["_meta"]["sidecall/call"]["error"]["approval_id"]
    decided = await client.post(f"/approvals/{found}", json={"decision": "approve"})
    done = (await ask(client, "tools/call", meta, name="give", arguments={})).json()["result"]
    shown = (await client.get(f"/approvals/{found}")).json()

    assert decided.json()["message"].keys() == shown["message"].keys() >= {"content", "artifact"}
    assert "value" not in shown["message"]
    assert (done["structuredContent"], done["content"]) == ({"result": "12"}, [{"type": "text", "text": "12"}])


async def test_a_cached_answer_keeps_its_value(make_client: MakeClient) -> None:
    """Also where another door has made it."""
    client = await make_client(make(str | int, "12", cache=Cache(ttl=60), annotations={"read_only": True}))

    assert (await call_rest(client))["content"] == "12"
    assert (await call_mcp(client))["structuredContent"] == {"result": "12"}
    assert (await client.post("/tools/give/call")).json() == "12"


async def test_secrets_are_masked_in_the_value_too(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is left does not fit, it is a failure at every door, without the secret."""
    monkeypatch.setenv("PIN", "482915")

    @tool
    async def give(*, as_number: bool, pin: Annotated[str, Secret("PIN")]) -> dict[str, int | str] | int:
        """Give."""
        return int(pin) if as_number else {"a": f"pin {pin}", "b": int(pin)}

    client = await make_client(give)
    result, wrong = await call_mcp(client, as_number=False), await call_mcp(client, as_number=True)
    message = await call_rest(client, as_number=True)

    assert result["structuredContent"] == {"result": {"a": "pin [redacted]", "b": "[redacted]"}}
    assert (wrong["isError"], message["status"]) == (True, "error")
    assert "482915" not in f"{result}{wrong}{message}"


async def test_what_a_guardrail_puts_in_its_place_is_the_value(make_client: MakeClient) -> None:
    """Nothing of what it has hidden is left."""

    @tool_output_guardrail
    def hide(_data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.replace({"a": 0})

    client = await make_client(make(dict[str, int], {"a": 7}, tool_output_guardrails=[hide]))

    assert (await call_mcp(client))["structuredContent"] == {"a": 0}
    assert (await client.post("/tools/give/call")).json() == {"a": 0}


@pytest.mark.parametrize("value", [["x" * 90] * 1000, {"a": ["x" * 90] * 1000}], ids=["blocks", "object"])
async def test_a_value_is_whole_where_its_text_is_cut(make_client: MakeClient, value: Any) -> None:
    """Also when it is given again."""
    client = await make_client(make(dict[str, Any] | list[str], value, max_content_bytes=500))
    headers = {"Idempotency-Key": "k"}

    result = await call_mcp(client)
    answers = [(await client.post("/tools/give/call", headers=headers)).json() for _ in range(2)]

    assert result["structuredContent"] == {"result": value}
    assert answers == [value, value]


async def test_a_result_of_the_programs_own_kind_is_held_in_process() -> None:
    """As by a server: an error is raised, and what pydantic converts comes converted."""
    assert await make(bool, 1).ainvoke({}) is True
    with pytest.raises(Exception, match="returned something else than its output schema says"):
        await make(int, "many").ainvoke({})


@asynccontextmanager
async def serve(made: Any, folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a tool, with what was remembered before in this folder."""
    app = create_app(Settings(store=f"sqlite:///{folder / 'ledger.db'}"), Registry([made]))
    transport = httpx.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        yield client


@pytest.mark.parametrize(("returns", "value"), [(str | None, "null"), (str | int, "12"), (list[str | None], ["null"])])
async def test_the_next_server_gives_the_stored_value(tmp_path: Path, returns: Any, value: Any) -> None:
    """Also of a call without a client that waits; and callers that look at the call are shown its message alone."""
    given = make(returns, value)
    async with serve(given, tmp_path) as client:
        headers = {"Idempotency-Key": "k", "Prefer": "respond-async"}
        accepted = await client.post("/tools/give/call", headers=headers)
        ended = (await client.get(accepted.headers["Location"], headers={"Prefer": "wait=30"})).json()

    async with serve(given, tmp_path) as client:
        again = await client.post("/tools/give/call", headers={"Idempotency-Key": "k"})
        shown = (await client.get(accepted.headers["Location"])).json()

    assert (again.json(), again.headers["Idempotency-Replayed"]) == (value, "true")
    assert ended["message"] == shown["message"]
    assert "value" not in shown["message"]


async def test_the_next_server_gives_the_value_of_an_approved_call(tmp_path: Path) -> None:
    """Which its store of approvals has."""
    given, meta = make(str | int, "12", requires_approval=True), {"sidecall/tool_call_id": "c1"}
    async with serve(given, tmp_path) as client:
        waits = (await ask(client, "tools/call", meta, name="give", arguments={})).json()["result"]
        found = waits["_meta"]["sidecall/call"]["error"]["approval_id"]
        await client.post(f"/approvals/{found}", json={"decision": "approve"})

    async with serve(given, tmp_path) as client:
        done = (await ask(client, "tools/call", meta, name="give", arguments={})).json()["result"]

    assert (done["structuredContent"], done["content"]) == ({"result": "12"}, [{"type": "text", "text": "12"}])
