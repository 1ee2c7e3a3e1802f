"""Tools on a worker do what they do at home, and what it knows of them shows."""

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kit.fleets import Fleet, call, is_available, wait_for
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE

_LARGE = 15 * 1024 * 1024


@pytest.fixture(scope="module")
def server(fleet: Fleet) -> Server:
    """Start a server and a worker of the queue `cpu`, which shares no secrets with it."""
    large = str(20 * 1024 * 1024)
    made = fleet.serve(
        FLEET_TOKEN="hush!",
        FLEET_OTHER="of the server",
        SIDECALL_QUEUE_TIMEOUT="1",
        SIDECALL_MAX_BODY_BYTES=large,
        SIDECALL_MAX_CONTENT_BYTES=large,
        SIDECALL_PLACEMENT="cpu=tag:heavy",
    )
    assert not is_available(made, "echo")
    fleet.work("cpu", "--name", "one", "--slots", "4")
    wait_for(lambda: is_available(made, "echo"))
    return made


def numbers(fleet: Fleet) -> dict[str, float]:
    """Read the numbers of the worker."""
    return fleet.started[1].metrics()


@pytest.mark.parametrize("name", ["where", "where_thread", "where_process"])
def test_a_tool_runs_in_its_executor_on_the_worker(fleet: Fleet, server: Server, name: str) -> None:
    """Where one runs that is for no queue is as before."""
    ran = int(call(server, name).json()["content"])
    worker = fleet.started[1].pid
    assert ran != server.pid
    assert (ran == worker) == (name != "where_process")
    assert int(call(server, "at_home").json()["content"]) == server.pid


@pytest.mark.parametrize("name", ["turn", "turn_at_home"])
def test_threads_that_compute_soon_give_way_to_the_loop(server: Server, name: str) -> None:
    """On a worker as on a server, since both answer others meanwhile."""
    assert call(server, name).json()["content"] == "0.001"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("where", {}),
        ("where_thread", {}),
        ("where_process", {}),
        ("streams", {"count": 3}),
        ("says", {"count": 3}),
        ("remembers", {"value": "a"}),
        ("fails", {"how": "told"}),
        ("fails", {"how": "bug"}),
    ],
)
def test_calls_leave_no_garbage_on_the_worker(server: Server, name: str, args: dict[str, Any]) -> None:
    """A call is freed when it ends: to look for what knows itself holds up all others."""
    calls, left = 50, []
    for _ in range(3):  # What is made once, or by what else the worker does meanwhile, is not there each time.
        call(server, "collect")
        for _ in range(calls):
            call(server, name, **args)
        left.append(int(call(server, "collect").json()["content"]))
    assert min(left) < calls * 10, left


@pytest.mark.parametrize(
    ("name", "args", "content"),
    [
        ("echo", {"text": "ä 🙂 \n"}, "ä 🙂 \n"),
        ("echo", {"text": ""}, ""),
        ("with_artifact", {"count": 3}, "made"),
        ("streams", {"count": 3}, "0 1 2 "),
        ("says", {"count": 2}, "done"),
    ],
)
def test_an_answer_is_as_at_home(server: Server, name: str, args: dict[str, Any], content: str) -> None:
    """The whole message, too."""
    answer = call(server, name, **args).json()
    assert answer["status"] == "success"
    assert answer["content"] == content
    assert answer["artifact"] == ([0, 1, 2] if name == "with_artifact" else None)


def test_progress_and_parts_are_streamed_in_their_order(server: Server) -> None:
    """And nothing of them is left out, unless there are more than a reader takes."""
    stream = {"accept": "text/event-stream"}
    events = [it.split("\n")[0] for it in call(server, "says", headers=stream, count=50).text.split("\n\n") if it]
    assert sum("progress" in it for it in events) == 50
    assert "result" in events[-1] or "message" in events[-1] or "event" in events[-1]
    parts = call(server, "streams", headers=stream, count=5).text
    assert [parts.index(f"{number} ") for number in range(5)] == sorted(parts.index(f"{n} ") for n in range(5))


def test_progress_that_has_no_room_is_counted(server: Server) -> None:
    """A tool that cannot wait goes on, and its reader is told how much is missing."""
    told = call(server, "says", headers={"accept": "text/event-stream"}, count=1500).text
    events = [it.partition("\ndata: ") for it in told.split("\n\n")]
    missed = [json.loads(data)["count"] for kind, _, data in events if kind.endswith("event: missed")]
    shown = sum(kind.endswith("event: progress") for kind, _, _ in events)
    assert shown >= 200
    assert shown + sum(missed) == 1500


def test_what_a_tool_logs_is_in_the_log_of_its_server(server: Server) -> None:
    """With its level."""
    call(server, "says", count=2)
    assert "step 2" in server.wait_for("step 2")


def test_the_store_of_the_server_is_the_one_that_tools_use(server: Server) -> None:
    """What one call keeps, the next finds."""
    call(server, "remembers", value="a")
    assert call(server, "remembers", value="b").json()["content"] == ["a", "b"]


def test_a_tool_gets_what_its_caller_sends_and_only_the_secrets_that_it_declares(server: Server) -> None:
    """The server's other variables stay there."""
    body = {"name": "knows", "args": {}, "id": "1", "state": {"turn": 3}, "context": {"user": "ada"}}
    answer = CLIENT.post(f"{server.url}/tool_calls", json=body).json()
    assert json.loads(answer["content"]) == {
        "state": {"turn": 3},
        "context": {"user": "ada"},
        "tenant": "default",
        "token": 5,
        "other": None,
    }


@pytest.mark.parametrize(("how", "kind"), [("told", "tool_error"), ("bug", "execution_error"), ("exit", None)])
def test_a_failure_is_told_as_at_home(fleet: Fleet, server: Server, how: str, kind: str | None) -> None:
    """The model reads no details of a bug, and the worker goes on."""
    answer = call(server, "fails", how=how).json()
    assert answer["status"] == "error"
    assert kind is None or answer["response_metadata"]["error"]["kind"] == kind
    assert "secret detail" not in answer["content"]
    assert call(server, "echo", text="on").json()["content"] == "on"


@pytest.mark.parametrize("size", [600_000, 3_000_000, _LARGE])
def test_large_arguments_and_answers_cross_whole(server: Server, size: int) -> None:
    """In pieces that the bus takes."""
    text = "x" * size
    assert call(server, "echo", text=text).json()["content"] == text
    assert len(call(server, "repeat", letter="y", count=size).json()["content"]) == size


def test_what_is_too_large_for_the_way_is_refused_with_the_reason(server: Server) -> None:
    """And does not hang."""
    answer = call(server, "echo", text="x" * (18 * 1024 * 1024)).json()
    assert answer["status"] == "error"
    assert "17,825,792" in answer["content"]


def test_a_deadline_ends_the_tool_on_its_worker(fleet: Fleet, server: Server, tmp_path: Path) -> None:
    """Its slot is free again."""
    file = tmp_path / "said"
    answer = call(server, "too_slow", file=str(file)).json()
    assert answer["response_metadata"]["error"]["kind"] == "timeout"
    wait_for(lambda: "ended" in file.read_text())
    wait_for(lambda: numbers(fleet)['sidecall_worker_running{queue="cpu"}'] == 0)


def test_a_client_that_leaves_ends_the_tool_on_its_worker(fleet: Fleet, server: Server, tmp_path: Path) -> None:
    """Within moments."""
    file = tmp_path / "said"
    file.touch()
    body = {"name": "waits", "args": {"file": str(file)}, "id": "1"}
    with httpx.Client(timeout=httpx.Timeout(PATIENCE, read=1.0)) as client, pytest.raises(httpx.ReadTimeout):
        client.post(f"{server.url}/tool_calls", json=body)
    wait_for(lambda: "ended" in file.read_text())
    wait_for(lambda: numbers(fleet)['sidecall_worker_running{queue="cpu"}'] == 0)


def test_a_job_is_cancelled_on_its_worker(server: Server, tmp_path: Path) -> None:
    """And says so at once."""
    file = tmp_path / "said"
    file.touch()
    job = call(server, "waits", headers={"prefer": "respond-async"}, file=str(file)).json()["id"]
    wait_for(lambda: file.read_text() != "")
    assert CLIENT.post(f"{server.url}/tool_calls/{job}/cancel").status_code in (200, 202)
    wait_for(lambda: "ended" in file.read_text())
    answer = CLIENT.get(f"{server.url}/tool_calls/{job}", headers={"prefer": "wait=5"}).json()
    assert answer["status"] == "cancelled"


def test_a_tool_that_holds_up_the_loop_of_its_worker_is_started_once(server: Server, tmp_path: Path) -> None:
    """Signs of life come from another thread."""
    file = tmp_path / "said"
    assert call(server, "blocks", seconds=4, file=str(file)).json()["content"] == "still here"
    assert len(file.read_text().splitlines()) == 1


def test_a_queue_without_workers_is_answered_at_the_end_of_the_patience(server: Server) -> None:
    """With what is missing, and when to come again."""
    began = time.monotonic()
    refused = call(server, "unserved")
    assert refused.status_code == 503
    assert refused.json()["type"].endswith("no-worker")
    assert "'nobody'" in refused.json()["detail"]
    assert int(refused.headers["retry-after"]) >= 1
    assert time.monotonic() - began > 0.9


def test_listings_say_which_tools_have_no_worker(server: Server) -> None:
    """In the forms that have room for it; providers refuse what they do not know."""
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        detail = client.get("/tools/unserved").json()
        assert (detail["executor"], detail["queue"], detail["available"]) == ("fleet", "nobody", False)
        detail = client.get("/tools/at_home").json()
        assert (detail["executor"], detail["queue"], detail["available"]) == ("inline", None, True)
        plain = {it["title"]: it for it in client.get("/tools?format=json_schema").json()}
        assert plain["unserved"]["available"] is False
        assert "available" not in plain["echo"]
        mcp = {it["name"]: it for it in client.get("/tools?format=mcp").json()}
        assert mcp["unserved"]["_meta"] == {"sidecall/available": False}
        assert "_meta" not in mcp["echo"]
        assert "available" not in client.get("/tools").text


def test_numbers_and_the_command_show_the_fleet(fleet: Fleet, server: Server) -> None:
    """Who is there, and what became of calls."""
    metrics = server.metrics()
    assert metrics["sidecall_fleet_up"] == 1
    assert metrics['sidecall_fleet_workers{queue="cpu"}'] == 1
    for name in ("waiting", "running", "oldest_seconds", "workers"):
        assert metrics[f'sidecall_fleet_{name}{{queue="nobody"}}'] == 0
    assert numbers(fleet)['sidecall_worker_slots{queue="cpu"}'] == 4
    assert "the worker one of the queue cpu has joined, with 4 slots" in server.log
    shown = fleet.ask("fleet")
    assert "one" in shown
    assert "cpu" in shown
    said = json.loads(fleet.ask("fleet", "--json"))
    assert [it["name"] for it in said["workers"]] == ["one"]
    assert said["workers"][0]["queue"] == "cpu"
    assert len(said["servers"]) == 1


def test_a_worker_that_is_asked_to_leave_ends_and_is_gone(fleet: Fleet, server: Server, tmp_path: Path) -> None:
    """What runs there is finished first."""
    second = fleet.work("spare", "--name", "two")
    wait_for(lambda: is_available(server, "waits_once"))
    file = tmp_path / "said"
    file.write_text("an earlier start\n")
    job = call(server, "waits_safely", headers={"prefer": "respond-async"}, file=str(file)).json()["id"]
    wait_for(lambda: len(file.read_text().splitlines()) == 2)
    assert "takes no more calls" in fleet.ask("fleet", "drain", "two")
    assert second.exit_code() == 0
    assert not is_available(server, "waits_once")
    answer = CLIENT.get(f"{server.url}/tool_calls/{job}", headers={"prefer": "wait=5"}).json()
    assert answer["status"] == "succeeded"
    assert "no worker 'three'" in fleet.ask("fleet", "drain", "three")
