"""The example agents, as real processes between a scripted model and a real server."""

from collections.abc import Iterator

import pytest
from openai import OpenAI

from tests.e2e.agents import PROMPT, Run, run_agent
from tests.e2e.conftest import Serve
from tests.e2e.scripted_openai import ScriptedModel, never_done, repairing, running_model
from tests.kit.servers import CLIENT, Server

pytestmark = pytest.mark.usefixtures("origin_of_agents")

AGENTS = ["agent_openai.py", "agent_langchain.py"]
MISNAMED = "expresion: There is no such argument; did you mean expression?"
NOBODY_LISTENS = "http://127.0.0.1:9"

NEEDY_TOOL = '''
from typing import Annotated

from sidecall import InjectedState, tool



@tool
def calculator(expression: str, *, tenant: Annotated[str, InjectedState("tenant")]) -> str:
    """Work out an expression for a tenant, whom the calling program has to name."""
    return f"{expression} for {tenant}"
'''

CONVERSATION = [
    {"role": "user", "content": "What is (9 * 9 - 2 * 2) / 7, and what is 6 * 7?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_a",
                "type": "function",
                "function": {"name": "calculator", "arguments": '{"expression": "(9 * 9 - 2 * 2) / 7"}'},
            },
            {
                "id": "call_b",
                "type": "function",
                "function": {"name": "calculator", "arguments": '{"expresion": "6 * 7"}'},
            },
        ],
    },
    {"role": "tool", "tool_call_id": "call_a", "content": "11.0"},
    {
        "role": "tool",
        "tool_call_id": "call_b",
        "content": MISNAMED,
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_c",
                "type": "function",
                "function": {"name": "calculator", "arguments": '{"expression": "6 * 7"}'},
            },
        ],
    },
    {"role": "tool", "tool_call_id": "call_c", "content": "42"},
]


@pytest.fixture(scope="module")
def runs(shipped: Server, origin_of_agents: None) -> dict[str, Run]:
    """Run each agent once with a model that gets a call wrong and repairs it."""
    return {agent: run_agent(agent, repairing, shipped.url) for agent in AGENTS}


@pytest.fixture(scope="module")
def picky(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server that takes one call at a time, and wants to know the tenant."""
    tools = tmp_path_factory.mktemp("needy") / "needy.py"
    tools.write_text(NEEDY_TOOL)
    return start_server("--tools", str(tools), SIDECALL_MAX_BATCH="1")


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A model that asks for two tools at first."""
    with running_model(repairing) as model:
        yield model


@pytest.mark.parametrize("agent", AGENTS)
def test_agent_prints_the_final_answer(agent: str, runs: dict[str, Run]) -> None:
    """It quotes both results, the second from the repaired call."""
    run = runs[agent]

    assert (run.code, run.printed) == (0, "The results are 11.0 and 42.\n"), run.complained


@pytest.mark.parametrize("agent", AGENTS)
def test_agent_tells_the_model_why_a_call_failed(agent: str, runs: dict[str, Run]) -> None:
    """The second turn starts with the error's text beside the other result, the third with the repaired call's."""
    first, second, third = (request["messages"] for request in runs[agent].requests)

    assert [message["role"] for message in first] == ["user"]
    assert second[2:] == [
        {"role": "tool", "tool_call_id": "call_a", "content": "11.0"},
        {
            "role": "tool",
            "tool_call_id": "call_b",
            "content": MISNAMED,
        },
    ]
    assert third[5:] == [{"role": "tool", "tool_call_id": "call_c", "content": "42"}]


@pytest.mark.parametrize("agent", AGENTS)
def test_agent_offers_the_tools_as_they_are_listed(agent: str, runs: dict[str, Run], shipped: Server) -> None:
    """What GET /tools answers reaches the provider untouched, in every turn."""
    listing = CLIENT.get(f"{shipped.url}/tools").json()

    assert [request["tools"] for request in runs[agent].requests] == [listing, listing, listing]


def test_openai_agent_holds_the_whole_conversation(runs: dict[str, Run]) -> None:
    """The streamed calls are put together, and what Sidecall answers is appended as it is."""
    assert runs["agent_openai.py"].requests[-1]["messages"] == CONVERSATION


def test_openai_agent_streams_every_turn(runs: dict[str, Run]) -> None:
    """And asks for the model that the environment names."""
    requests = runs["agent_openai.py"].requests

    assert [(request["model"], request["stream"]) for request in requests] == [("scripted", True)] * 3


def test_langchain_agent_keeps_the_status_of_each_answer(runs: dict[str, Run]) -> None:
    """A call that failed is an error for LangChain too, and not only text."""
    assert runs["agent_langchain.py"].complained.splitlines()[-3:] == [
        "calculator success: 11.0",
        f"calculator error: {MISNAMED}",
        "calculator success: 42",
    ]


@pytest.mark.parametrize(
    ("agent", "last_line"),
    [
        ("agent_openai.py", "No answer after 10 turns."),
        ("agent_langchain.py", "Model call limits exceeded: run limit (10/10)"),
    ],
)
def test_agent_gives_up_on_a_model_that_never_answers(agent: str, last_line: str, shipped: Server) -> None:
    """Ten turns are enough."""
    run = run_agent(agent, never_done, shipped.url)

    assert (run.code, len(run.requests)) == (1, 10)
    assert run.last_words == last_line


@pytest.mark.parametrize("agent", AGENTS)
def test_agent_says_that_there_is_no_sidecall(agent: str) -> None:
    """And how to start one, instead of a traceback."""
    run = run_agent(agent, repairing, NOBODY_LISTENS)

    assert (run.code, run.requests) == (1, [])
    assert run.last_words.startswith("No Sidecall at http://127.0.0.1:9 (")
    assert run.last_words.endswith("); start one with: sidecall serve")


@pytest.mark.parametrize("agent", AGENTS)
def test_agent_says_that_the_model_cannot_be_asked(agent: str, shipped: Server) -> None:
    """What the provider answered stands in one line, instead of a traceback."""
    run = run_agent(agent, repairing, shipped.url, path="/nothing")

    assert (run.code, run.last_words) == (1, "The model cannot be asked: Error code: 404")


@pytest.mark.parametrize(
    ("agent", "detail"),
    [
        # both calls of the turn in one batch
        ("agent_openai.py", "The batch holds 2 calls; this server takes 1 at once."),
        # one call after the other, without the state
        ("agent_langchain.py", "tenant"),
    ],
)
def test_agent_stops_when_sidecall_refuses_its_request(agent: str, detail: str, picky: Server) -> None:
    """A 4xx is shown to the program's author and never sent to the model."""
    run = run_agent(agent, repairing, picky.url)

    assert (run.code, len(run.requests)) == (1, 1)
    assert run.last_words.startswith('Sidecall answered 422: {"type":"urn:sidecall:problem:')
    assert detail in run.last_words


def test_calls_of_the_openai_sdk_can_be_posted_as_they_are(model: ScriptedModel, shipped: Server) -> None:
    """`model_dump` of what the SDK parsed is a call, alone or in a batch."""
    with OpenAI(base_url=model.url, api_key="none") as openai:
        asked = openai.chat.completions.create(model="scripted", messages=[{"role": "user", "content": PROMPT}])
    calls = [call.model_dump() for call in asked.choices[0].message.tool_calls or []]

    alone = CLIENT.post(f"{shipped.url}/tool_calls", json=calls[1]).json()
    batch = CLIENT.post(f"{shipped.url}/tool_calls/batch", json=calls).json()

    failed = {
        "role": "tool",
        "tool_call_id": "call_b",
        "content": MISNAMED,
    }
    assert alone == failed
    assert batch == [{"role": "tool", "tool_call_id": "call_a", "content": "11.0"}, failed]
