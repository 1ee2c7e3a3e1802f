"""A call as an operation of OpenAPI takes the way of every other, and is answered with its plain result."""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from sidecall import ToolContext, ToolException, tool
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem

PIXEL = "iVBORw0KGgo="


class City(BaseModel):
    """A city."""

    name: str
    people: int


@tool
async def find(name: str) -> City:
    """Find a city."""
    return City(name=name, people=3)


@tool
async def count(name: str = "") -> int:
    """Count the letters."""
    return len(name)


@tool
async def say(text: str) -> str:
    """Say a text."""
    return text


@tool
async def loose() -> Any:
    """Return what no annotation describes."""
    return {"a": 1}


@tool
async def nothing() -> None:
    """Return nothing."""


@tool
async def lie() -> int:
    """Promise a number."""
    return "many"  # type: ignore[return-value]


@tool(max_content_bytes=500)
async def letters() -> list[str]:
    """List many letters."""
    return ["letter"] * 1000


@tool(max_content_bytes=500)
async def prose() -> str:
    """Say much."""
    return "word " * 1000


@tool
async def fail() -> str:
    """Fail."""
    raise ToolException("no luck", retry_after=2)


@tool
async def crash() -> str:
    """Crash."""
    raise RuntimeError("secret")


@tool(timeout=0.01)
async def hang() -> str:
    """Hang."""
    await asyncio.sleep(60)
    return ""


@tool(response_format="content_and_artifact")
async def draw() -> tuple[Any, dict[str, int]]:
    """Draw."""
    return ["a pixel", {"type": "image", "base64": PIXEL, "mime_type": "image/png"}], {"kept": 1}


@tool(requires_approval=True)
async def delete(number: int) -> str:
    """Delete."""
    return f"Deleted {number}."


@tool
async def tell(*, context: ToolContext) -> dict[str, Any]:
    """Tell what came beside the call."""
    return {"context": dict(context.context), "header": context.headers.get("x-tenant")}


RAN: list[int] = []


@tool
async def book(room: int) -> str:
    """Book a room."""
    RAN.append(room)
    return f"Booked {room}."


TOOLS = (find, count, say, loose, nothing, lie, letters, prose, fail, crash, hang, draw, delete, tell, book)


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("find", {"name": "Ghent"}, {"name": "Ghent", "people": 3}),
        ("count", {"name": "Ghent"}, 5),
        ("say", {"text": "42"}, "42"),
        ("say", {"text": '{"a": 1}'}, '{"a": 1}'),
        ("loose", {}, '{"a": 1}'),
        ("nothing", {}, None),
        ("letters", {}, ["letter"] * 1000),
    ],
)
async def test_the_answer_is_the_result(make_client: MakeClient, name: str, args: dict[str, Any], answer: Any) -> None:
    """As the return annotation has it, whole; else the text that a model reads."""
    client = await make_client(*TOOLS)

    response = await client.post(f"/tools/{name}/call", json=args)

    assert (response.status_code, response.json()) == (200, answer)


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/json"}])
async def test_a_call_without_arguments_needs_no_body(make_client: MakeClient, headers: dict[str, str]) -> None:
    """Whether or not it is declared as JSON."""
    client = await make_client(*TOOLS)

    assert (await client.post("/tools/count/call", headers=headers)).json() == 0


@pytest.mark.parametrize(
    ("name", "args", "status", "slug", "detail"),
    [
        ("nope", {}, 404, "unknown-tool", "Error: nope is not a valid tool"),
        ("find", {"nam": "Ghent"}, 422, "invalid-arguments", "nam: There is no such argument; did you mean name?"),
        ("find", ["Ghent"], 422, "not-a-tool-call", "The body holds the arguments of the tool, as a JSON object"),
        ("fail", {}, 400, "tool-error", "no luck"),
        ("crash", {}, 500, "execution-error", "Error: crash failed unexpectedly"),
        ("lie", {}, 500, "output-error", "Error: lie returned something else than its output schema says: "),
        ("hang", {}, 504, "timeout", "Error: hang timed out after 0.01 seconds."),
    ],
)
async def test_a_failure_is_a_problem(
    make_client: MakeClient, name: str, args: Any, status: int, slug: str, detail: str
) -> None:
    """With the status that says who has to mend it, and how."""
    client = await make_client(*TOOLS)

    response = await client.post(f"/tools/{name}/call", json=args)

    assert response.status_code == status
    assert read_problem(response)[0] == slug
    assert read_problem(response)[1].startswith(detail)
    assert "secret" not in response.text


async def test_a_problem_says_what_would_be_right_and_when(make_client: MakeClient) -> None:
    """An example of the arguments, the wrong fields, and after how long to try again."""
    client = await make_client(*TOOLS)

    wrong = (await client.post("/tools/find/call", json={"name": 3})).json()
    later = await client.post("/tools/fail/call")

    assert (wrong["example"], wrong["errors"][0]["loc"], wrong["retryable"]) == ({"name": "text"}, ["name"], True)
    assert (later.json()["retry_after"], later.headers["Retry-After"]) == (2, "2")


async def test_what_is_no_text_is_kept_and_said_where(make_client: MakeClient) -> None:
    """An image in the text itself, an artifact and what was cut in a header."""
    client = await make_client(*TOOLS)

    drawn, long = await client.post("/tools/draw/call"), await client.post("/tools/prose/call")

    text = drawn.json()
    assert text.startswith("a pixel\n[image, image/png, 8 bytes, to be found at /contents/")
    kept = (await client.get(text.rpartition(" ")[2].rstrip("]"))).json()
    assert kept[1]["base64"] == PIXEL
    url, *_, title = drawn.headers["Link"].split(";")
    assert title.strip() == 'title="artifact"'
    assert (await client.get(url.strip("<>"))).json() == {"kept": 1}
    assert len(long.json()) < 500
    url, *_, title = long.headers["Link"].split(";")
    assert title.strip() == 'title="whole"'
    assert (await client.get(url.strip("<>"))).text == "word " * 1000


async def test_a_person_approves_it_as_elsewhere(make_client: MakeClient) -> None:
    """202 with the approval; sent again afterwards with its key, it has the answer."""
    client = await make_client(*TOOLS)
    headers = {"Idempotency-Key": "order-7"}

    waiting = await client.post("/tools/delete/call", json={"number": 7}, headers=headers)
    await client.post(waiting.headers["Location"], json={"decision": "approve"})
    done = await client.post("/tools/delete/call", json={"number": 7}, headers=headers)

    assert (waiting.status_code, waiting.json()["status"]) == (202, "pending")
    assert (done.status_code, done.json(), done.headers["Idempotency-Replayed"]) == (200, "Deleted 7.", "true")


async def test_a_rejection_is_a_problem(make_client: MakeClient) -> None:
    """403, with the person's reason."""
    client = await make_client(*TOOLS)
    headers = {"Idempotency-Key": "order-8"}

    waiting = await client.post("/tools/delete/call", json={"number": 8}, headers=headers)
    await client.post(waiting.headers["Location"], json={"decision": "reject", "reason": "Not that one."})
    done = await client.post("/tools/delete/call", json={"number": 8}, headers=headers)

    assert (done.status_code, *read_problem(done)) == (403, "rejected", "Not that one.")


async def test_a_key_runs_it_once(make_client: MakeClient) -> None:
    """With other arguments it is refused."""
    client = await make_client(*TOOLS)
    RAN.clear()
    headers = {"Idempotency-Key": "room"}

    answers = [await client.post("/tools/book/call", json={"room": 1}, headers=headers) for _ in range(2)]
    other = await client.post("/tools/book/call", json={"room": 2}, headers=headers)

    assert ([answer.json() for answer in answers], RAN) == (["Booked 1."] * 2, [1])
    assert (other.status_code, read_problem(other)[0]) == (422, "key-reused")


async def test_it_may_go_on_without_its_client(make_client: MakeClient) -> None:
    """202 with where to ask."""
    client = await make_client(*TOOLS)

    accepted = await client.post("/tools/say/call", json={"text": "a"}, headers={"Prefer": "respond-async"})
    ended = await client.get(accepted.headers["Location"], headers={"Prefer": "wait=30"})

    assert (accepted.status_code, ended.json()["message"]["content"]) == (202, "a")


async def test_what_comes_beside_it_reaches_the_tool(make_client: MakeClient) -> None:
    """The context in its header, and the other headers; a deadline in the query."""
    client = await make_client(*TOOLS)
    headers = {"X-Sidecall-Context": '{"user": "u1"}', "X-Tenant": "t1"}

    told = (await client.post("/tools/tell/call", headers=headers)).json()
    late = await client.post("/tools/hang/call?timeout=0.001")

    assert told == {"context": {"user": "u1"}, "header": "t1"}
    assert late.status_code == 504


async def test_it_is_counted_and_noted_as_every_other_call(make_client: MakeClient) -> None:
    """One budget for all ways in, and one history."""
    client = await make_client(*TOOLS, rate_limit="3/hour")

    answers = [
        await client.post("/tool_calls", json={"name": "say", "args": {"text": "a"}}),
        await client.post("/tools/say/call", json={"text": "b"}),
        await client.post("/tools/say/call", json={"text": "c"}),
        await client.post("/tools/say/call", json={"text": "d"}),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert "r=0" in answers[2].headers["RateLimit"]
    noted = (await client.get("/tool_calls?name=say")).json()
    calls = noted if isinstance(noted, list) else noted["items"]
    assert sum(call["status"] == "succeeded" for call in calls) == 3
