"""Spans are made where they are wanted, and what makes them is loaded only then."""

import os
import subprocess
import sys
from typing import Any

import pytest

from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.standard_variables import MissingExtra
from sidecall.features.telemetry.tracing import open_tracing
from sidecall.main import create_app
from sidecall.settings import Settings


@pytest.fixture(autouse=True)
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work as if the extra `otel` were not installed, in an environment that says nothing."""
    for name in [name for name in sys.modules if name.startswith("opentelemetry.sdk")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    monkeypatch.delitem(sys.modules, "sidecall.features.telemetry.export", raising=False)


def _set(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def test_an_extra_that_is_missing_stops_the_start_when_it_was_asked_for() -> None:
    """With what to type."""
    with pytest.raises(MissingExtra) as caught:
        create_app(Settings(tools=(), entry_points=False, otel="on"))

    assert caught.value.message == "Spans need the extra `otel`: pip install 'sidecall[otel]'"


@pytest.mark.parametrize(
    "environment",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9"},
        {"OTEL_TRACES_EXPORTER": "console"},
    ],
)
def test_an_environment_that_asks_for_spans_in_vain_is_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, environment: dict[str, str]
) -> None:
    """It may be meant for others, so the server starts."""
    _set(monkeypatch, environment)

    assert open_tracing("auto", Redaction()) is None
    assert caplog.messages == ["the environment asks for spans, but the extra `otel` is not installed"]


@pytest.mark.parametrize(
    ("switch", "environment"),
    [
        ("auto", {}),
        ("auto", {"OTEL_EXPORTER_OTLP_ENDPOINT": ""}),
        ("auto", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"}),
        ("auto", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}),
        ("off", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}),
    ],
)
def test_spans_that_nobody_wants_are_not_made(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, switch: Any, environment: dict[str, str]
) -> None:
    """Nothing is looked for, and nothing is missed."""
    _set(monkeypatch, environment)

    assert open_tracing(switch, Redaction()) is None
    assert caplog.messages == []


def test_a_defect_of_ours_is_not_taken_for_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised as it is."""
    monkeypatch.setitem(sys.modules, "sidecall.features.telemetry.export", None)

    with pytest.raises(ModuleNotFoundError, match=r"sidecall\.features\.telemetry\.export"):
        open_tracing("on", Redaction())


def test_a_server_without_spans_loads_nothing_for_them() -> None:
    """In a process of its own, where nobody else has."""
    program = (
        "import sys; from sidecall.main import create_app; from sidecall.settings import Settings; "
        "create_app(Settings(tools=(), entry_points=False)); "
        "late = ('opentelemetry.sdk', 'sidecall.features.telemetry.spans'); "
        "print([name for name in sys.modules if name.startswith(late)])"
    )

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert result.stdout == "[]\n"


def test_a_process_of_tools_asks_at_next_to_no_cost() -> None:
    """Each of them does, also in the place of one that was killed."""
    asked = (
        "import sys; from sidecall.features.telemetry.tracing import open_in_process; assert open_in_process() is None;"
        "print(*sorted(name for name in sys.modules if name.startswith(('sidecall.features.', 'pydantic_settings'))))"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    loaded = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)

    assert loaded.stdout.split() == [
        "sidecall.features.telemetry",
        "sidecall.features.telemetry.redact",
        "sidecall.features.telemetry.standard_variables",
        "sidecall.features.telemetry.tracing",
    ]
