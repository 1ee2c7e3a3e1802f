"""A line about a call is the same whether it takes the straight way to stderr or that of `logging`."""

import io
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest

from sidecall import InjectedState, Secret, ToolContext, tool
from sidecall.features.telemetry import log_lines as straight
from sidecall.features.telemetry.log_lines import FastLogPath, JsonLines
from sidecall.features.telemetry.log_writer import LineHandler, LineWriter, PrintBuffer
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.terminal_lines import TerminalLines
from tests.kit.clients import MakeClient

logger = logging.getLogger("sidecall")
PATIENCE = 60
VARYING = {"timestamp": "", "duration_ms": 0.0, "invocation_id": ""}


@tool
async def log_in(user: str, password: str = "", *, seat: Annotated[str, InjectedState("seat")] = "") -> dict[str, Any]:
    """Log in."""
    return {"user": user, "token": "canary-4711", "odd": [1.5, None, True, "\u2028é"]}


@tool
async def outer(*, context: ToolContext) -> str:
    """Say something on the way."""
    context.log.info("on the way")
    return '{"name": "api_key", "value": "canary-4711"}'


@tool
async def sign(*, key: Annotated[str, Secret("KEY")]) -> str:
    """Sign."""
    return f"signed with {key}"


def _deep(depth: int) -> Any:
    return {"deeper": _deep(depth - 1)} if depth else ["bottom"]


CALLS = {
    "plain": {"name": "log_in", "args": {"user": "ada", "password": "canary-4711", "seat": "hidden"}, "id": "call_1"},
    "wrong": {"name": "log_in", "args": {"users": [1, 2.5, None, {"userPassword": "canary-4711"}]}, "id": "call_1"},
    "unknown": {"name": "nope" * 100, "args": {}, "id": "i" * 1000},
    "a line of its own": {"name": "outer", "args": {}, "id": "é\n\u2028"},
    "deep": {"name": "log_in", "args": {"user": "{", "deep": _deep(20)}, "id": "call_1"},
    "too long": {"name": "log_in", "args": {"user": [[["v" * 999] * 20] * 20]}, "id": "call_1"},
    "with a secret": {"name": "sign", "args": {}, "id": "call_1"},
}


@contextmanager
def _logging(file: Path, form: logging.Formatter, *more: logging.Handler) -> Iterator[LineHandler]:
    """Have all that is logged written to a file as a server does, and handed to other handlers."""
    before, level = logging.root.handlers, logger.level
    with file.open("ab") as written:
        writer = LineWriter(written.fileno(), 100_000_000, print)
        handler = LineHandler(io.TextIOWrapper(PrintBuffer(writer, written.fileno()), line_buffering=True))  # type: ignore[type-var]
        handler.setFormatter(form)
        logging.root.handlers = [handler, *more]
        logger.setLevel(logging.INFO)
        try:
            yield handler
            assert writer.flush(PATIENCE)
        finally:
            logging.root.handlers = before
            logger.setLevel(level)


def _read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("ascii").splitlines()]


@pytest.fixture
def say(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Awaitable[Any]]:
    """Give a function that sends a call and reads the lines that come of it."""
    monkeypatch.setenv("KEY", "canary-4711")

    async def send(file: Path, call: Any, *more: logging.Handler, **settings: Any) -> list[dict[str, Any]]:
        client = await make_client(log_in, outer, sign, log_calls=True, caller_header="X-User", **settings)
        headers = {"X-User": "{ada", "X-Request-Id": "req-1", "content-type": "application/json"}
        with _logging(file, JsonLines(settings.get("log_redact", ())), *more):
            await client.post("/tool_calls", content=json.dumps(call | {"state": {"seat": "1"}}), headers=headers)
        return [line | {name: VARYING[name] for name in line if name in VARYING} for line in _read(file)]

    return send


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"log_args": True},
        {"log_args": True, "log_redact": ("user",)},
        {"log_args": True, "log_redact": ("result", "caller")},
    ],
    ids=["bare", "with content", "with more secrets", "with own fields as secrets"],
)
async def test_both_ways_write_the_same_line(tmp_path: Path, say: Any, call: Any, settings: Any) -> None:
    """The same fields in the same order, no matter what is in them."""
    straight_on = await say(tmp_path / "straight", call, **settings)
    around = await say(tmp_path / "around", call, logging.NullHandler(), **settings)

    assert [list(line.items()) for line in straight_on] == [list(line.items()) for line in around]
    assert straight_on[-1]["event"] == "tool call"
    assert "canary-4711" not in str(straight_on)


async def test_a_call_is_one_line_with_all_there_is_to_say(tmp_path: Path, say: Any) -> None:
    """Written out once."""
    (line,) = await say(tmp_path / "log", CALLS["plain"], log_args=True)

    assert list(line.items()) == [
        ("timestamp", ""),
        ("level", "info"),
        ("logger", "sidecall"),
        ("event", "tool call"),
        ("tool", "log_in"),
        ("call_id", "call_1"),
        ("invocation_id", ""),
        ("outcome", "success"),
        ("duration_ms", 0.0),
        ("request_id", "req-1"),
        ("caller", "a text of 4 characters"),
        ("arguments", {"user": "ada", "password": "[redacted]"}),
        ("result", {"user": "ada", "token": "[redacted]", "odd": [1.5, None, True, "\u2028é"]}),
    ]


async def test_what_is_cut_says_once_how_much(tmp_path: Path, say: Any) -> None:
    """Not how much of what was cut before."""
    call = {"name": "log_in", "args": {"user": "x" * 5000, "many": [0] * 60}, "id": "call_1"}

    (line,) = await say(tmp_path / "log", call, log_args=True)

    assert line["arguments"]["user"].endswith("x… 4000 more characters")
    assert line["arguments"]["many"][-1] == "… 10 more"


def _replace_factory(_: logging.Handler) -> Any:
    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(lambda *args, **keys: before(*args, **keys))
    return lambda: logging.setLogRecordFactory(before)


def _replace_calling(_: logging.Handler) -> Any:
    before = logging.Logger.callHandlers
    logging.Logger.callHandlers = lambda *args: before(*args)  # type: ignore[method-assign]

    def restore() -> None:
        logging.Logger.callHandlers = before  # type: ignore[method-assign]

    return restore


def _filter(_: logging.Handler) -> Any:
    seen = logging.Filter()
    logger.addFilter(seen)
    return lambda: logger.removeFilter(seen)


def _handle(_: logging.Handler) -> Any:
    more = logging.NullHandler()
    logger.addHandler(more)
    return lambda: logger.removeHandler(more)


def _stop(_: logging.Handler) -> Any:
    logger.propagate = False

    def restore() -> None:
        logger.propagate = True

    return restore


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda handler: handler.setFormatter(logging.Formatter()), id="another formatter"),
        pytest.param(lambda handler: handler.setFormatter(TerminalLines()), id="columns"),
        pytest.param(lambda handler: handler.setFormatter(JsonLines(("iban",))), id="other secrets"),
        pytest.param(lambda handler: handler.setLevel(logging.WARNING), id="a level"),
        pytest.param(lambda handler: handler.addFilter(logging.Filter()), id="a filter of the handler"),
        pytest.param(lambda handler: handler.setStream(io.StringIO()), id="another stream"),
        pytest.param(lambda _: logging.root.addHandler(logging.NullHandler()), id="another handler"),
        pytest.param(lambda _: logging.root.handlers.clear(), id="no handler"),
        pytest.param(_filter, id="a filter of the logger"),
        pytest.param(_handle, id="a handler of the logger"),
        pytest.param(_stop, id="no propagation"),
        pytest.param(_replace_factory, id="other records"),
        pytest.param(_replace_calling, id="who listens to every record"),
    ],
)
def test_no_line_goes_straight_past_somebody_who_has_a_say(tmp_path: Path, change: Any) -> None:
    """No matter what is changed, and when."""
    way = FastLogPath(logger, logging.INFO, Redaction())
    with _logging(tmp_path / "log", JsonLines()) as handler:
        assert way.find() is not None
        restore = change(handler)
        found = way.find()
        if callable(restore):
            restore()

    assert found is None


def test_handlers_of_other_kinds_have_a_say(tmp_path: Path) -> None:
    """Those of tests, for example."""
    way = FastLogPath(logger, logging.INFO, Redaction())
    with _logging(tmp_path / "log", JsonLines()):
        logging.root.handlers = [logging.NullHandler()]

        assert way.find() is None


def test_nothing_stood_in_the_way_when_it_was_loaded() -> None:
    """Python's own logging is recognized as such."""
    assert straight._ARE_STOCK is True
