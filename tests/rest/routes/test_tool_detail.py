"""Everything about one tool is shown under its name."""

import re
from typing import Annotated, Any

import pytest

from sidecall import (
    ApprovalRequired,
    BaseStore,
    CommandSandbox,
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    ToolContext,
    ToolRuntime,
    tool,
)
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem
from tests.kit.tools import ping
from tests.rest.routes.listed import NAMED, PARAMETERS, convert, search


async def test_one_tool_is_shown_whole(make_client: MakeClient) -> None:
    """Definition, schemas, options and what the linter says."""
    shown = (await (await make_client(search)).get("/tools/search")).json()

    assert shown == {
        **NAMED,
        "definition": {"type": "function", "function": {**NAMED, "parameters": PARAMETERS}},
        "args_schema": PARAMETERS,
        "output_schema": {"items": {"type": "string"}, "type": "array"},
        "tags": ["web", "slow"],
        "metadata": {"owner": "search"},
        "scopes": [],
        "annotations": dict.fromkeys(("title", "read_only", "destructive", "idempotent", "open_world")),
        "extras": {},
        "return_direct": True,
        "response_format": "content",
        "timeout": 5.0,
        "executor": "inline",
        **{"queue": None, "available": True, "sandbox": None},
        "timeout_behavior": "error_as_result",
        "requires_approval": False,
        **dict.fromkeys(("has_preview", "reads_state", "hosted"), False),
        "injected": [],
        "cache": None,
        "unknown_args": "ignore",
        "hash": shown["hash"],
        "deprecated": None,
        "strict": True,
        "strict_obstacles": [],
        "notes": [],
    }
    assert re.fullmatch(r"[0-9a-f]{64}", shown["hash"])


async def test_a_tool_shows_whether_it_reads_state(make_client: MakeClient) -> None:
    """By a parameter, or in one of its functions; who calls it sends none else."""
    client = await make_client(*STATELESS, *STATEFUL)

    shown = {it.name: (await client.get(f"/tools/{it.name}")).json()["reads_state"] for it in [*STATELESS, *STATEFUL]}

    assert shown == {**dict.fromkeys(["one", "two"], False), **dict.fromkeys(["three", "four", "five", "six"], True)}


@tool
def one(of_context: Annotated[str, InjectedToolArg], call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Read what is no state."""
    return of_context + call_id


@tool
def two(commands: CommandSandbox, store: Annotated[BaseStore, InjectedStore]) -> str:
    """Use what the server has."""
    return f"{commands} {store}"


@tool
def three(field: Annotated[str, InjectedState("field")]) -> str:
    """Read the state."""
    return field


@tool
def four(context: ToolContext) -> str:
    """Read it by the context of the call."""
    return str(context.state)


@tool
def five(runtime: ToolRuntime) -> str:
    """Read it by the runtime."""
    return str(runtime.state)


@tool(requires_approval=lambda context, args, _: bool(context.state and args))
def six(number: int) -> str:
    """Let a policy read it."""
    return str(number)


STATELESS, STATEFUL = [one, two], [three, four, five, six]


async def test_a_tool_shows_where_and_how_it_runs(make_client: MakeClient) -> None:
    """A sync tool runs in a thread, with the server's default deadline."""
    client = await make_client(convert)

    detail = (await client.get("/tools/convert")).json()

    assert detail["executor"] == "thread"
    assert detail["timeout"] is None
    assert detail["unknown_args"] == "forbid"


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        (
            "serch",
            "There is no tool 'serch', or it is not visible to you. Did you mean search? GET /tools lists the tools.",
        ),
        ("xyz", "There is no tool 'xyz', or it is not visible to you. GET /tools lists the tools."),
        (
            "SEARCH",
            "There is no tool 'SEARCH', or it is not visible to you. Did you mean search? GET /tools lists the tools.",
        ),
    ],
)
async def test_an_unknown_tool_is_answered_with_the_nearest(make_client: MakeClient, name: str, detail: str) -> None:
    """404 says what may have been meant."""
    client = await make_client(search, ping)

    response = await client.get(f"/tools/{name}")

    assert response.status_code == 404
    assert read_problem(response) == ("unknown-tool", detail)


async def by_amount(args: dict[str, Any]) -> bool:
    """Ask about large amounts."""
    return bool(args["amount"] > 100)


@pytest.mark.parametrize(
    ("policy", "shown"), [(False, False), (True, True), (by_amount, None)], ids=["never", "always", "it depends"]
)
async def test_a_tool_shows_whether_a_person_is_asked(make_client: MakeClient, policy: Any, shown: bool | None) -> None:
    """Null where that depends on the arguments."""

    @tool(requires_approval=policy, timeout_behavior="raise")
    async def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    client = await make_client(pay)

    detail = (await client.get("/tools/pay")).json()

    assert (detail["requires_approval"], detail["timeout_behavior"]) == (shown, "raise")


async def test_of_a_tool_that_asks_itself_it_depends(make_client: MakeClient) -> None:
    """Whether a person is asked."""

    @tool
    async def pay(amount: int) -> str:
        """Pay."""
        raise ApprovalRequired(f"Pay {amount}?")

    client = await make_client(pay)

    assert (await client.get("/tools/pay")).json()["requires_approval"] is None


@pytest.mark.parametrize(
    ("own", "asked", "expected"),
    [
        (None, "false", None),
        (None, "true", True),
        # no matter what the caller asks for
        (True, "false", True),
        (False, "true", None),
    ],
)
async def test_an_author_may_settle_whether_a_definition_is_strict(
    make_client: MakeClient, own: bool | None, asked: str, expected: bool | None
) -> None:
    """In the listing and under the tool's name."""
    offered = tool("search", strict=own, description="Search.")(search.func or search.coroutine)
    client = await make_client(offered)

    (listed,) = (await client.get("/tools", params={"strict": asked})).json()
    detail = (await client.get("/tools/search")).json()

    assert listed["function"].get("strict") is expected
    assert listed["function"]["parameters"].get("additionalProperties") is (False if expected else None)
    assert detail["definition"]["function"].get("strict") is (own or None)
