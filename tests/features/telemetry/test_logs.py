"""Log lines look the same wherever they come from, and each is one line."""

import json
import logging
import sys
import warnings
from logging.config import dictConfig
from pathlib import Path
from typing import Any

import pytest

from sidecall import ToolContext, tool
from sidecall.features.telemetry.calls import is_json, make_log_config
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient

HOSTILE = "c\n2026-01-01 [error] forged\x1b[31m\u2028\rx"
SHOWN = r"c\n2026-01-01 [error] forged\x1b[31m\u2028\rx"


@tool
def crash() -> None:
    """Crash."""
    raise ValueError("canary\n2026-01-01 [error] forged\x1b[31m")


@tool
async def talk(*, context: ToolContext) -> None:
    """Talk."""
    context.log.info("page %d", 3, extra={"pages": 9, "api_key": "canary-4711"})
    logging.getLogger("somebody").warning("else")


async def test_a_failure_that_needs_a_person_is_one_object(make_client: MakeClient, log_as: Any) -> None:
    """With the traceback in one field."""
    log = log_as(as_json=True)
    client = await make_client(crash)

    answer = await client.post("/tool_calls", json=write_call("crash"), headers={"X-Request-Id": "req-1"})
    (line,) = log.lines
    traceback = line.pop("exception")

    assert traceback.startswith("Traceback (most recent call last):\n")
    assert traceback.endswith("ValueError: canary\n2026-01-01 [error] forged\x1b[31m")
    assert line.pop("timestamp").endswith("Z")
    assert line.pop("duration_ms") > 0
    assert line == {
        "level": "error",
        "logger": "sidecall",
        "event": "tool failed",
        "tool": "crash",
        "call_id": "call_1",
        "invocation_id": answer.json()["id"],
        "outcome": "execution_error",
        "request_id": "req-1",
    }


@pytest.mark.parametrize("as_json", [True, False])
async def test_what_an_exception_says_at_length_is_cut(log_as: Any, as_json: bool) -> None:
    """Megabytes in a line would help nobody; its head and its tail do."""
    log = log_as(as_json=as_json)
    try:
        raise ValueError("begin " + "x" * 1_000_000 + " end")
    except ValueError:
        logging.getLogger("sidecall").exception("failed")
    written = log.written.getvalue()

    assert "ValueError: begin xxx" in written
    assert written.rstrip('"}\n').endswith("xxx end")
    assert "characters left out" in written
    assert len(written) < 70_000


@pytest.mark.parametrize("settings", [{"log_calls": True}, {"log_calls": False}], ids=["each call", "failures"])
async def test_lines_name_conversation_and_trace(make_client: MakeClient, log_as: Any, settings: Any) -> None:
    """Those about a call and its failure, by the words of its program."""
    log = log_as(as_json=True)
    client = await make_client(crash, **settings)
    headers = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01", "X-Request-Id": "req-1"}

    beside = {"context": {"conversation_id": "größe \u2713"}}
    await client.post("/tool_calls", json={**write_call("crash"), **beside}, headers=headers)

    named = [(line["conversation_id"], line["trace_id"], line["request_id"]) for line in log.lines]
    assert named == [("größe \u2713", "1" * 32, "req-1")] * (1 + settings["log_calls"])


async def test_lines_of_a_tool_name_its_call(make_client: MakeClient, log_as: Any) -> None:
    """Those of libraries that it uses do so too; secrets are known by their names."""
    log = log_as(as_json=True)
    client = await make_client(talk)

    answer = await client.post("/tool_calls", json=write_call("talk"), headers={"X-Request-Id": "req-1"})
    known = {
        "tool": "talk",
        "call_id": "call_1",
        "invocation_id": answer.json()["id"],
        "request_id": "req-1",
    }

    assert [line | {"timestamp": ""} for line in log.lines] == [
        {
            "timestamp": "",
            "level": "info",
            "logger": "sidecall.tool",
            "event": "page 3",
            "pages": 9,
            "api_key": "[redacted]",
            **known,
        },
        {"timestamp": "", "level": "warning", "logger": "somebody", "event": "else", **known},
    ]


def test_outside_of_calls_a_line_names_none(log_as: Any) -> None:
    """What the server says of itself."""
    log = log_as(as_json=True)

    logging.getLogger("sidecall").info("serving %d tools", 2)

    assert [line | {"timestamp": ""} for line in log.lines] == [
        {"timestamp": "", "level": "info", "logger": "sidecall", "event": "serving 2 tools"}
    ]


@pytest.mark.parametrize("as_json", [True, False])
async def test_a_call_cannot_forge_lines(make_client: MakeClient, log_as: Any, as_json: bool) -> None:
    """Neither by its id, nor by the name of its tool."""
    log = log_as(as_json=as_json)
    client = await make_client(talk, log_calls=True)

    await client.post("/tool_calls/batch", json=[write_call("talk", id=HOSTILE), write_call(HOSTILE)])

    # Of the tool, of the library, and one of each call.
    assert len(log.text.splitlines()) == 4
    assert log.text.replace("\n", "").isprintable()


async def test_on_a_terminal_lines_are_for_people(make_client: MakeClient, log_as: Any) -> None:
    """The message first; a traceback is indented, so that nothing in it passes for a line."""
    log = log_as(as_json=False)
    client = await make_client(crash)

    await client.post("/tool_calls", json=write_call("crash", id="call_1"), headers={"X-Request-Id": "req-1"})
    first, *traceback = log.text.splitlines()

    assert "[error    ] tool failed tool=crash call_id=call_1 invocation_id=" in first
    assert "outcome=execution_error duration_ms=" in first
    assert first.endswith("request_id=req-1")
    assert traceback[0] == "    Traceback (most recent call last):"
    assert traceback[-2:] == ["    ValueError: canary", r"    2026-01-01 [error] forged\x1b[31m"]
    assert {line[:4] for line in traceback} == {"    "}


def test_values_on_a_terminal_are_written_out(log_as: Any) -> None:
    """What drives a terminal is shown instead."""
    log = log_as(as_json=False)

    logging.getLogger("somebody").warning(HOSTILE, extra={"said": "x\ty"})

    assert log.text.endswith(f" [warning  ] {SHOWN} [somebody] said=x\\ty\n")


@pytest.mark.parametrize(
    ("no_color", "shown"),
    [
        pytest.param(
            "",
            " [\x1b[33m\x1b[1mwarning  \x1b[0m] \x1b[1mhot\x1b[0m [\x1b[1m\x1b[34msomebody\x1b[0m]"
            " \x1b[36mby\x1b[0m=\x1b[35m'a b'\x1b[0m \x1b[36mnone\x1b[0m= \x1b[36mlist\x1b[0m=\x1b[35m[1]\x1b[0m\n",
            id="where there are any",
        ),
        pytest.param("1", " [warning  ] hot [somebody] by='a b' none= list=[1]\n", id="where they are not wanted"),
    ],
)
def test_a_terminal_is_told_of_colors(log_as: Any, monkeypatch: pytest.MonkeyPatch, no_color: str, shown: str) -> None:
    """Which tell apart how grave it is, what happened, and the names of fields."""
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    log = log_as(as_json=False)

    logging.getLogger("somebody").warning("hot", extra={"by": "a b", "none": "", "list": [1]})

    assert log.text.endswith(shown)


def test_warnings_and_oddities_are_lines_too(log_as: Any) -> None:
    """All that a library hands over can be said in JSON."""
    log = log_as(as_json=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.warn("old\nthing", stacklevel=1)
    logging.getLogger("somebody").warning("odd", extra={"number": float("nan"), "thing": {1}, "color_message": "x"})
    warned, odd = log.lines

    assert (warned["logger"], warned["level"]) == ("py.warnings", "warning")
    assert "UserWarning: old\nthing" in warned["event"]
    assert odd == {
        "timestamp": odd["timestamp"],
        "level": "warning",
        "logger": "somebody",
        "event": "odd",
        "number": "nan",
        "thing": [1],
    }


async def test_what_callers_choose_is_cut(make_client: MakeClient, log_as: Any) -> None:
    """Ids and names of megabytes would be lines of megabytes; the answer has them whole."""
    log = log_as(as_json=True)
    client = await make_client(talk, crash, log_calls=True, log_args=True)
    long = "i" * 1_000_000

    calls = [write_call("talk", id=long), write_call("crash", id=long), write_call("n" * 1_000_000, id=long)]
    answers = await client.post("/tool_calls/batch", json=calls)
    lines = log.lines
    names = {name: {line[name] for line in lines} for name in ("call_id", "tool")}

    assert [answer["tool_call_id"] for answer in answers.json()] == [long] * 3
    assert names["call_id"] == {"i" * 256 + "… 999744 more characters"}
    assert names["tool"] == {"talk", "crash", "n" * 256 + "… 999744 more characters"}
    assert [line["event"] for line in lines[:2]] == ["page 3", "else"]
    assert max(map(len, log.text.splitlines())) < 10_000


@pytest.mark.parametrize("as_json", [True, False])
def test_a_line_is_cut(log_as: Any, as_json: bool) -> None:
    """Its message, a field's name, a field, and what many fields are together."""
    log = log_as(as_json=as_json)
    somebody = logging.getLogger("somebody")
    many: Any = [["v" * 1000] * 50] * 50

    somebody.warning("m" * 100_000)
    somebody.warning("names", extra={"k" * 100_000: "v" * 100_000})
    somebody.warning("many", extra={"values": many, "other": 1})
    message, name, whole = log.text.splitlines()

    assert 16_000 < len(message) < 17_000
    assert "83616 characters left out" in message
    assert 2_000 < len(name) < 3_000
    assert name.count("… 99000 more characters") + name.count("\\u2026 99000 more characters") == 2
    assert "left out, since the line would be too long" in whole
    assert len(whole) < 300


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\u2028b", "a b=c", "stack", "exception"])
def test_a_field_cannot_forge_lines(log_as: Any, name: str, as_json: bool) -> None:
    """Neither by its name, nor by its value, at any depth."""
    log = log_as(as_json=as_json)

    logging.getLogger("somebody").warning("odd", extra={name: HOSTILE, "deep": {name: [HOSTILE]}})

    assert len(log.text.splitlines()) == 1
    assert log.text.rstrip("\n").isprintable()
    assert f" {name}=" not in log.text


def test_an_operator_may_name_more_secrets(log_as: Any) -> None:
    """Beside those that everybody has."""
    log = log_as(as_json=True, redact=("iban",))

    logging.getLogger("somebody").warning("paid", extra={"iban": "canary-4711", "sent": {"password": "canary-4711"}})

    assert (log.lines[0]["iban"], log.lines[0]["sent"]) == ("[redacted]", {"password": "[redacted]"})


def test_lines_without_a_terminal_are_json_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in a container."""
    with (tmp_path / "log").open("w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)

        assert (is_json("auto"), is_json("text"), is_json("json")) == (True, False, True)


def test_the_configuration_is_plain_and_covers_everything(capfd: pytest.CaptureFixture[str]) -> None:
    """It goes to worker processes, and sends every library's lines the same way."""
    config = make_log_config("warning", "json", ("iban",))
    before = logging.root.handlers[:], logging.root.level, logging.getLogger("uvicorn").level
    try:
        dictConfig(json.loads(json.dumps(config)))
        logging.getLogger("uvicorn.error").warning("one")
        logging.getLogger("uvicorn.error").info("none")
        logging.getLogger("somebody").warning("two", extra={"iban": "canary-4711"})
    finally:
        logging.root.handlers, logging.root.level = before[0], before[1]
        logging.getLogger("uvicorn").setLevel(before[2])
        logging.captureWarnings(False)
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]

    assert [(line["event"], line.get("iban")) for line in lines] == [("one", None), ("two", "[redacted]")]
