"""Secrets are found where orchestrators put them, and shown to nobody."""

import json
import logging
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from pydantic import SecretStr

from sidecall import BaseCallbackHandler, Secret, StructuredTool, tool
from sidecall.features.credentials.server_secrets import secrets_in, warn_of_missing
from sidecall.kernel.core.services import ToolResources
from tests.kit.clients import MakeClient

CANARY = "canary-4711"


def spell(key: str) -> str:
    """Write a secret so that it is not masked."""
    return "-".join(key)


@tool
async def send(text: str, key: Annotated[str, Secret("SMS_KEY")]) -> str:
    """Send a message."""
    return f"{text} {spell(key)}"


@tool
async def send_or_not(text: str, key: Annotated[str | None, Secret("SMS_KEY")] = None) -> str:
    """Send a message if there is a key."""
    return f"{text} {key and spell(key)}"


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMS_KEY", raising=False)


async def _content(client: httpx.AsyncClient, offered: StructuredTool, **args: Any) -> str:
    call = {"name": offered.name, "args": {"text": "Hi", **args}, "id": "call_1"}
    return str((await client.post("/tool_calls", json=call)).json()["content"])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"s3cret", "s3cret"),
        (b"s3cret\n", "s3cret"),
        (b"s3cret\r\n", "s3cret"),
        # spaces are part of it, and so are lines of a certificate
        (b" a\nb \n", " a\nb "),
        ("schlüssel".encode(), "schlüssel"),
        # empty and unreadable ones are none
        (b"", None),
        (b"\n", None),
        (b"\xff\xfe", None),
    ],
)
def test_a_file_is_a_secret(tmp_path: Path, written: bytes, read: str | None) -> None:
    """Its trailing newline, which editors write, is not."""
    (tmp_path / "SMS_KEY").write_bytes(written)

    assert secrets_in(tmp_path)("SMS_KEY") == read


def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator can override a file."""
    (tmp_path / "SMS_KEY").write_text("file")
    monkeypatch.setenv("SMS_KEY", "variable")

    assert secrets_in(tmp_path)("SMS_KEY") == "variable"


def test_an_empty_variable_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orchestrators make them of what nobody has set."""
    (tmp_path / "SMS_KEY").write_text("file")
    monkeypatch.setenv("SMS_KEY", "")

    assert secrets_in(tmp_path)("SMS_KEY") == "file"
    assert secrets_in(tmp_path / "nowhere")("SMS_KEY") is None


@pytest.mark.parametrize(
    "name", ["SMS_KEY", "", ".", "a/b", "a\0b"], ids=["missing", "empty", "folder", "deep", "null"]
)
def test_a_secret_that_is_nowhere_is_none(tmp_path: Path, name: str) -> None:
    """No matter what it is called."""
    assert secrets_in(tmp_path)(name) is None


async def test_a_tool_gets_its_secret_from_the_folder(make_client: MakeClient, tmp_path: Path) -> None:
    """The setting `secrets_dir`; a file that is rotated is read anew."""
    (tmp_path / "SMS_KEY").write_text("first\n")
    client = await make_client(send, secrets_dir=tmp_path)

    before = await _content(client, send)
    (tmp_path / "SMS_KEY").write_text("second\n")
    after = await _content(client, send)

    assert (before, after) == ("Hi f-i-r-s-t", "Hi s-e-c-o-n-d")


async def test_a_tool_gets_its_secret_from_the_environment(
    make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the server and in process."""
    monkeypatch.setenv("SMS_KEY", "variable")
    client = await make_client(send, secrets_dir=tmp_path)

    assert await _content(client, send) == "Hi v-a-r-i-a-b-l-e"
    assert await send.ainvoke({"text": "Hi"}) == "Hi v-a-r-i-a-b-l-e"


async def test_a_secret_is_neither_the_models_nor_the_callers_to_fill(make_client: MakeClient, tmp_path: Path) -> None:
    """The parameter is nowhere in the schema, and what is sent for it is dropped."""
    (tmp_path / "SMS_KEY").write_text("right")
    client = await make_client(send, secrets_dir=tmp_path)
    forged = {
        "name": "send",
        "args": {"text": "Hi", "key": "forged"},
        "context": {"key": "forged", "SMS_KEY": "forged"},
    }

    message = (await client.post("/tool_calls", json=forged)).json()
    shown = (await client.get("/tools/send")).json()
    injected = shown.pop("injected")
    listing = json.dumps(shown)

    assert (message["content"], message["response_metadata"]["ignored_args"]) == ("Hi r-i-g-h-t", ["key"])
    assert "SMS_KEY" not in listing
    assert '"key"' not in listing
    assert [(it["name"], it["from"], it["path"], it["is_set"]) for it in injected] == [
        ("key", "secret", "SMS_KEY", True)
    ]
    assert "right" not in str(injected)


async def test_a_secret_that_is_missing_is_the_operators_business(
    make_client: MakeClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The model does not even learn its name."""
    client = await make_client(send, secrets_dir=tmp_path)
    caplog.clear()

    message = (await client.post("/tool_calls", json={"name": "send", "args": {"text": "Hi"}, "id": "call_1"})).json()

    assert message["content"] == (
        "Error: send is not configured here, so it cannot run (call call_1). The details are in the server's log."
    )
    assert message["response_metadata"]["error"]["kind"] == "not_configured"
    assert message["response_metadata"]["error"]["retryable"] is False
    assert "SMS_KEY" not in str(message)
    assert caplog.messages == [
        "tool send is not configured: The secret SMS_KEY is not set, neither by this caller nor as a variable nor as a "
        f"file. (call call_1, invocation {message['id']})"
    ]
    assert "Traceback" not in caplog.text


async def test_a_default_stands_in_for_a_secret(make_client: MakeClient, tmp_path: Path) -> None:
    """The tool can do without."""
    client = await make_client(send_or_not, secrets_dir=tmp_path)

    assert await _content(client, send_or_not) == "Hi None"


async def test_handlers_do_not_hear_secrets(tmp_path: Path, make_client: MakeClient) -> None:
    """They are hidden arguments."""
    heard: list[Any] = []

    class Diary(BaseCallbackHandler):
        def on_tool_start(self, serialized: Any, input_str: str, **details: Any) -> None:
            heard.append((serialized, input_str, details))

    @tool(callbacks=[Diary()])
    async def use(text: str, key: Annotated[SecretStr, Secret("SMS_KEY")]) -> str:
        """Use a key."""
        return f"{text} {key}"

    (tmp_path / "SMS_KEY").write_text(CANARY)
    client = await make_client(use, secrets_dir=tmp_path)

    assert await _content(client, use) == "Hi **********"
    assert len(heard) == 1
    assert CANARY not in repr(heard)


async def test_a_secret_of_the_wrong_type_is_a_failure_without_the_secret(
    make_client: MakeClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither an answer nor a log line repeats it."""

    @tool
    async def connect(text: str, port: Annotated[int, Secret("SMS_KEY")]) -> int:
        """Connect."""
        return port

    (tmp_path / "SMS_KEY").write_text(CANARY)
    client = await make_client(connect, secrets_dir=tmp_path)

    response = await client.post("/tool_calls", json={"name": "connect", "args": {"text": "Hi"}, "id": "call_1"})

    assert response.status_code == 200
    assert response.json()["response_metadata"]["error"]["kind"] == "execution_error"
    assert CANARY not in response.text + caplog.text


async def test_an_empty_variable_is_no_secret_in_process_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test should fail where the server would."""
    monkeypatch.setenv("SMS_KEY", "")

    assert await send_or_not.ainvoke({"text": "Hi"}) == "Hi None"


@pytest.mark.parametrize(
    ("offered", "value", "expected"),
    [
        (send, None, ["tool send needs the secret SMS_KEY, which is not set"]),
        (send, "set", []),
        (send_or_not, None, []),
    ],
    ids=["missing", "set", "not needed"],
)
def test_the_operator_is_warned_at_the_start(
    caplog: pytest.LogCaptureFixture, offered: StructuredTool, value: str | None, expected: list[str]
) -> None:
    """Before the first call fails."""
    caplog.set_level(logging.WARNING, "sidecall")

    warn_of_missing([offered.compiled], lambda _: value)

    assert caplog.messages == expected


async def test_a_server_starts_without_a_secret_and_says_so(
    make_client: MakeClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its other tools work."""
    await make_client(send, secrets_dir=tmp_path)

    assert caplog.messages == ["tool send needs the secret SMS_KEY, which is not set"]


def test_a_server_of_no_kind_knows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a tool can be tried in process."""
    monkeypatch.setenv("SMS_KEY", "variable")

    assert ToolResources().secrets("SMS_KEY") == "variable"
