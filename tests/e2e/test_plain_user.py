"""What runs the code of models holds as it is installed: from a wheel, by a plain user, and in a container."""

import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall.features.sandbox.landlock import NEEDED, read_version
from tests.e2e.coders import MENDED, call, run_coder
from tests.e2e.scripted_coders import running_coders
from tests.features.sandbox.escapes import PYTHON, SHELL
from tests.features.sandbox.machine import contained, open_once
from tests.features.sandbox.plain_user import as_plain_user, give
from tests.kit.calls import write_call
from tests.kit.servers import CLIENT, Server, end, start

_TOOLKITS = ("--tools", "sidecall", *(word for name in ("files", "shell", "python") for word in ("--toolkit", name)))
_FORBIDDEN = "it needs user namespaces, which containers forbid by default, as docs/sandbox.md says"


@contextmanager
def serving(make_command: Callable[..., Sequence[str]]) -> Iterator[tuple[Server, Path]]:
    """Serve toolkits with what such a command starts, in a folder of the plain user's."""
    with tempfile.TemporaryDirectory(prefix="sidecall-plain-") as made:
        folder = give(Path(made))

        def launch(
            arguments: Sequence[str], _: Path, environment: Mapping[str, str], log_file: Path
        ) -> subprocess.Popen[bytes]:
            command = make_command("-m", "sidecall", *arguments)
            given = {name: value for name, value in environment.items() if not name.startswith("COVERAGE")}
            with log_file.open("ab") as log:
                return subprocess.Popen(command, cwd=folder, env=given, stdout=log, stderr=subprocess.STDOUT)

        settings = {
            **{"SIDECALL_PYTHON": "cpython", "SIDECALL_SHELL_ALLOW": "python3", "CANARY": "canary", "HOME": made},
            "SIDECALL_WORKSPACE_DIR": f"{made}/workspaces",
        }
        server = start(folder, *_TOOLKITS, environment=settings, launch=launch)
        yield server, folder
        end(server.process)


@pytest.fixture(scope="module")
def plain(installed_python: str) -> Iterator[tuple[Server, Path]]:
    """Serve from the wheel, by a plain user."""
    open_once()
    if subprocess.run(as_plain_user("unshare", "--user", "true"), check=False).returncode:
        pytest.skip("plain users may make no namespaces here")
    with serving(lambda *arguments: as_plain_user(installed_python, *arguments)) as served:
        yield served


@pytest.fixture(scope="module")
def closed_in(installed_python: str) -> Iterator[tuple[Server, Path]]:
    """Serve from the wheel, by a plain user, where namespaces are forbidden as in a container."""
    with serving(lambda *arguments: as_plain_user(*contained(*arguments, python=installed_python))) as served:
        yield served


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    """Serve the models of the coding agents."""
    with running_coders() as url:
        yield url


@contextmanager
def outside(server: Server, folder: Path) -> Iterator[dict[str, Any]]:
    """Lay out what lies outside and what listens there, for the user of the server to reach."""
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        name = f"sidecall-{os.getpid()}-{server.port}"
        unix.bind(f"\0{name}")
        unix.listen()
        canary = folder / "canary.txt"
        canary.write_text("canary")
        give(canary)
        yield {"CANARY": str(canary), "PID": server.process.pid, "PORT": tcp.getsockname()[1], "NAME": name}
        assert canary.read_text() == "canary"


def run_pythons(server: Server, folder: Path) -> list[str]:
    """Try each way out in Python; return those that have led out."""
    out = []
    with outside(server, folder) as names:
        told = "\n".join(f"{name} = {value!r}" for name, value in names.items())
        for way, code in PYTHON.items():
            content = call(server, "escaping", "run_python", code=f"{told}\n{code}")
            if not any(
                f'"value": {value},' in content for value in ("null", '"False"', '"0"', "\"''\"", "\"b''\"", '"[]"')
            ):
                out.append(f"{way}: {content}")
    return out


def test_the_sandbox_is_whole(plain: tuple[Server, Path]) -> None:
    """All trials pass, and no tool is refused."""
    ready = CLIENT.get(f"{plain[0].url}/readyz").json()

    assert (ready["sandbox"]["profile"], len(ready["sandbox"]["checks"])) == ("bubblewrap", 6)
    assert all(check["passed"] for check in ready["sandbox"]["checks"])
    assert "refused" not in ready


def test_both_coders_mend_the_test(plain: tuple[Server, Path], models: str) -> None:
    """With the toolkits that the wheel holds."""
    for provider in ("openai", "anthropic"):
        run_coder(provider, plain[0], models)

        assert call(plain[0], provider, "read", file_path="sums.py") == MENDED


def test_no_python_gets_out(plain: tuple[Server, Path]) -> None:
    """Of what this user may reach."""
    assert run_pythons(*plain) == []
    assert '"value": "45"' in call(plain[0], "escaping", "run_python", code="sum(range(10))")


def test_no_command_gets_out(plain: tuple[Server, Path]) -> None:
    """A person approves each here."""
    server, folder = plain
    out = []
    with httpx.Client(base_url=server.url, timeout=60) as client, outside(server, folder) as names:
        told = "; ".join(f"{name}={value}" for name, value in names.items())
        for way, command in SHELL.items():
            text = f"{told}; {{ {command}; }} >/dev/null && echo it led out"
            waiting = client.post("/tool_calls", json=write_call("bash", command=text)).json()
            answer = client.post(f"/approvals/{waiting['id']}", json={"decision": "approve"}).json()
            if "it led out" in answer["message"]["content"]:
                out.append((way, answer))

    assert out == []


def test_a_workspace_that_was_closed_is_opened_again(plain: tuple[Server, Path]) -> None:
    """The server may not pass it either, where it is not root."""
    here = {"Sidecall-Conversation": "closed"}
    with httpx.Client(base_url=plain[0].url, timeout=60, headers=here) as client:
        for command in ("echo hello > a.txt", "chmod 000 /workspace"):
            waiting = client.post("/tool_calls", json=write_call("bash", command=command)).json()
            client.post(f"/approvals/{waiting['id']}", json={"decision": "approve"})

    assert "hello" in call(plain[0], "closed", "read", file_path="a.txt")


def test_a_container_has_no_shell_and_all_else(closed_in: tuple[Server, Path]) -> None:
    """The log, the probe, the tool and each call say why; other tools go on."""
    server, _ = closed_in
    with httpx.Client(base_url=server.url, timeout=60) as client:
        ready = client.get("/readyz").json()
        shown = client.get("/tools/bash").json()["sandbox"]
        item = {"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed"}
        refused = client.post("/tool_calls", json={**item, "action": {"commands": ["python3 -V"]}}).json()["output"][0]
        sum_of = client.post("/tool_calls", json=write_call("calculator", expression="6 * 7")).json()["content"]

    assert (set(ready["refused"]), ready["sandbox"]["checks"] != []) == (
        {"shell", "bash"},
        read_version() >= NEEDED,
    )
    assert (_FORBIDDEN in ready["refused"]["shell"], _FORBIDDEN in shown["refused"]) == (True, True)
    assert "the tool shell is refused: it needs a sandbox: bubblewrap does not start" in server.wait_for("is refused")
    assert (refused["outcome"], "Commands cannot be run on this server" in refused["stderr"]) == (
        {"type": "exit", "exit_code": 1},
        True,
    )
    assert sum_of == "42"
    assert "a.txt" in call(server, "here", "write", file_path="a.txt", content="x")


@pytest.mark.skipif(read_version() < NEEDED, reason="the kernel's Landlock is too old")
def test_no_python_gets_out_of_a_container(closed_in: tuple[Server, Path]) -> None:
    """Nor to what else there is of its user, with Landlock alone."""
    assert run_pythons(*closed_in) == []
    assert '"value": "45"' in call(closed_in[0], "escaping", "run_python", code="sum(range(10))")
