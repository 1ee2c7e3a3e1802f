"""`sidecall call` runs one tool, in this process or on a server."""

import json
from typing import Any

import httpx
import pytest
import respx

from sidecall.kernel.core.errors import MissingContext
from tests.cli.conftest import call

pytestmark = pytest.mark.usefixtures("tools_here")

TOOLS = '''
import asyncio
from contextlib import suppress
from typing import Annotated, Any

from sidecall import InjectedState, InjectedToolArg, ToolException, tool


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    print("adding")
    return a + b


@tool
def show(text: str, value: Any = None, flags: list[bool] | None = None) -> dict[str, Any]:
    """Show what came."""
    return {"text": text, "value": value, "flags": flags}


@tool
def refuse() -> str:
    """Refuse."""
    raise ToolException("no")


@tool
def crash() -> str:
    """Crash."""
    return {}["missing"]


@tool(timeout=0.1)
async def nap() -> str:
    """Go on, also when cancelled."""
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


@tool(requires_approval=True)
def delete(order: int) -> str:
    """Delete an order."""
    return "deleted"


@tool
def whoami(state: Annotated[dict, InjectedState], tenant: Annotated[str, InjectedToolArg]) -> str:
    """Say who asks."""
    return f"{state['user']} of {tenant}"
'''


def test_a_tool_is_run_in_this_process() -> None:
    """The output is its ToolMessage."""
    result = call("add", "a=1", "b=2", "--id", "call_cli")
    message = json.loads(result.stdout)

    assert result.exit_code == 0
    assert (message["content"], message["status"]) == ("3", "success")
    assert (message["name"], message["tool_call_id"], message["type"]) == ("add", "call_cli", "tool")


def test_what_the_tool_prints_goes_to_the_error_stream() -> None:
    """The output stays JSON."""
    result = call("add", "a=1")

    assert json.loads(result.stdout)["content"] == "2"
    assert result.stderr == "adding\n"


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        (["text=7"], '{"text": "7", "value": null, "flags": null}'),  # a text stays one
        (["text=true", "value=7"], '{"text": "true", "value": 7, "flags": null}'),
        (["text=", "value=a=b"], '{"text": "", "value": "a=b", "flags": null}'),
        (['text="x"', 'value={"a": [1]}'], '{"text": "\\\\"x\\\\"", "value": {"a": [1]}, "flags": null}'),
        (["text=x", "value=null"], '{"text": "x", "value": null, "flags": null}'),
        (["text=x", "value=NaN"], '{"text": "x", "value": "NaN", "flags": null}'),
        (["text=x", "flags=[true, false]"], '{"text": "x", "value": null, "flags": [true, false]}'),
        (["--args", '{"text": "x", "value": 1}'], '{"text": "x", "value": 1, "flags": null}'),
        (["--args", '{"text": "x"}', "text=y"], '{"text": "y", "value": null, "flags": null}'),  # the pair wins
        (["--args", "null", "text=y"], '{"text": "y", "value": null, "flags": null}'),
        (["--args", "[]", "text=y"], '{"text": "y", "value": null, "flags": null}'),  # as PHP writes an empty object
        (["text=ü 🙂"], '{"text": "ü 🙂", "value": null, "flags": null}'),
    ],
)
def test_values_are_read_as_the_tool_wants_them(arguments: list[str], content: str) -> None:
    """JSON, except where the schema says text; what is no JSON is text too."""
    result = call("show", *arguments)

    assert json.loads(json.loads(result.stdout)["content"].replace("\\\\", "\\")) == json.loads(
        content.replace("\\\\", "\\")
    )


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        (["refuse"], "no"),
        (["nap"], "Error: nap timed out after 0.1 seconds."),  # and the command ends, though its code goes on
        (["add"], "a: Field required (integer)"),
        (["add", "a=one"], "a: Input should be an integer"),
        (
            ["sub", "a=1"],
            "Error: sub is not a valid tool, try one of [add, show, refuse, crash, nap, delete, whoami].",
        ),
    ],
)
def test_a_failed_call_has_exit_code_1(arguments: list[str], content: str) -> None:
    """Its message is printed all the same."""
    result = call(*arguments)

    assert result.exit_code == 1
    assert json.loads(result.stdout)["content"] == content


def test_a_crash_shows_the_authors_lines() -> None:
    """And none of ours."""
    result = call("crash", "--id", "call_cli")

    assert json.loads(result.stdout)["content"].endswith("(call call_cli). The details are above.")

    assert result.exit_code == 1
    assert "KeyError: 'missing'" in result.stderr
    assert 'return {}["missing"]' in result.stderr
    assert "sidecall/pipeline" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["delete", "order=7"],
            "On a server this call waits for a person's approval; here you gave yours by typing it.\n",
        ),
        (["delete", "order=x"], ""),
        (["refuse"], ""),
    ],
)
def test_a_call_that_would_need_an_approval_says_so(arguments: list[str], said: str) -> None:
    """Beside its answer."""
    assert call(*arguments).stderr == said


def test_state_and_context_stand_beside_the_call() -> None:
    """As in the body of POST /tool_calls."""
    result = call("whoami", "--state", '{"user": "ada"}', "--context", '{"tenant": "acme"}')

    assert json.loads(result.stdout)["content"] == "ada of acme"


def test_state_that_is_missing_is_the_callers_mistake() -> None:
    """The program says it in a sentence, with exit code 1."""
    result = call("whoami")

    assert isinstance(result.exception, MissingContext)
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["a"], "'a' is not key=value"),
        (['{"a": 1}'], "give a JSON object with --args"),
        (["--args", "[1]"], 'give a JSON object, such as {"a": 1}'),
        (["--args", "{"], "not JSON: EOF while parsing an object at line 1 column 1"),
        (["--state", "{"], "not JSON: EOF while parsing an object at line 1 column 1"),
        (["--context", "x"], "not JSON: expected value at line 1 column 1"),
        (["--context", "[1]"], "give a JSON object"),  # what the route would refuse
    ],
)
def test_a_mistake_of_usage_has_exit_code_2(arguments: list[str], complaint: str) -> None:
    """And runs nothing."""
    result = call("add", *arguments)

    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stdout == ""


URL = "http://sidecall.test"
MESSAGE: dict[str, Any] = {"content": "3", "status": "success", "type": "tool", "tool_call_id": "call_cli"}
DETAIL: dict[str, Any] = {"args_schema": {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}}


@pytest.mark.respx(base_url=URL, assert_all_called=False)
def test_a_server_can_be_asked(respx_mock: respx.MockRouter) -> None:
    """Values are read by the schema that it shows."""
    respx_mock.get("/tools/add").respond(json=DETAIL)
    route = respx_mock.post("/tool_calls").respond(json=MESSAGE)

    beside = ["--id", "call_cli", "--state", "7", "--context", '{"tenant": "acme"}']

    result = call("add", "a=1", "b=2", *beside, "--url", URL)

    assert result.exit_code == 0
    assert json.loads(result.stdout) == MESSAGE
    assert json.loads(route.calls.last.request.content) == {
        "name": "add",
        "args": {"a": 1, "b": "2"},
        "id": "call_cli",
        "state": 7,
        "context": {"tenant": "acme"},
    }


@pytest.mark.respx(base_url=URL, assert_all_called=False)
def test_a_tool_that_the_server_does_not_have_is_its_message(respx_mock: respx.MockRouter) -> None:
    """With exit code 1, as in this process."""
    respx_mock.get("/tools/sub").respond(404, json={})
    respx_mock.post("/tool_calls").respond(json={**MESSAGE, "status": "error"})

    result = call("sub", "a=x", "--url", URL)

    assert result.exit_code == 1
    assert json.loads(result.stdout)["status"] == "error"


@pytest.mark.respx(base_url=URL, assert_all_called=False)
def test_a_problem_of_the_server_is_said_in_its_words(respx_mock: respx.MockRouter) -> None:
    """Its detail, with exit code 2."""
    respx_mock.get("/tools/whoami").respond(json=DETAIL)
    respx_mock.post("/tool_calls").respond(422, json={"detail": "The tool needs `state` beside the call."})

    result = call("whoami", "--url", URL)

    assert result.exit_code == 2
    assert result.stderr == "http://sidecall.test refuses the call: The tool needs `state` beside the call.\n"


@pytest.mark.respx(base_url=URL)
def test_who_needs_a_key_is_told_where_it_goes(respx_mock: respx.MockRouter, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every command that asks a server says it."""
    monkeypatch.delenv("SIDECALL_API_KEY", raising=False)
    respx_mock.get("/tools/add").respond(401, json={})
    respx_mock.post("/tool_calls").respond(401, json={"detail": "Send a credential."})

    result = call("add", "a=1", "--url", URL)

    assert result.exit_code == 2
    assert "put a key or a token into SIDECALL_API_KEY" in result.stderr


@pytest.mark.respx(base_url=URL, assert_all_called=False)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(httpx.Response(200, html="<html>"), id="a page"),
        pytest.param(httpx.Response(200, json={}), id="another object"),
        pytest.param(httpx.Response(200, json=["add"]), id="an array"),
        pytest.param(httpx.Response(502, text="Bad Gateway"), id="a gateway"),
        pytest.param(httpx.Response(404, json=[]), id="an array as error"),
    ],
)
def test_a_server_of_another_kind_is_told_apart(respx_mock: respx.MockRouter, answer: httpx.Response) -> None:
    """A wrong address is a mistake of usage, not a traceback."""
    respx_mock.get("/tools/add").mock(return_value=answer)
    respx_mock.post("/tool_calls").mock(return_value=answer)

    result = call("add", "a=1", "--url", URL)

    assert result.exit_code == 2
    told = f"error: {URL} does not answer as a Sidecall server. Say where yours is with --url or SIDECALL_URL.\n"
    assert result.stderr == told


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nonsense", "http://[", "ftp://127.0.0.1"])
def test_an_address_where_nobody_answers_is_a_mistake_of_usage(url: str) -> None:
    """In one line, with the reason and what to do."""
    result = call("add", "a=1", "--url", url)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: no server answers at {url}: ")
    assert result.stderr.endswith(". Start one with `sidecall serve`, or say where it is with --url or SIDECALL_URL.\n")
    assert "Error(" not in result.stderr
