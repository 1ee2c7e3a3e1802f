"""The process says where it is in its life, and starts only as it was told to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from pydantic import ValidationError

from sidecall import Registry
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.main import create_app
from sidecall.settings import Settings, UnknownSetting, unknown_names


@asynccontextmanager
async def client_of(lifecycle: Lifecycle) -> AsyncIterator[httpx.AsyncClient]:
    """Make a client of an application that is told of this life, but was not started."""
    transport = httpx.ASGITransport(create_app(Settings(), Registry(), lifecycle))
    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        yield client


def test_a_life_goes_one_way() -> None:
    """From starting over ready to draining."""
    lifecycle = Lifecycle()
    phases = [lifecycle.phase]

    lifecycle.begin()
    phases.append(lifecycle.phase)
    lifecycle.drain()
    phases.append(lifecycle.phase)
    lifecycle.begin()
    phases.append(lifecycle.phase)

    assert phases == ["starting", "ready", "draining", "draining"]


async def test_the_application_begins_it() -> None:
    """Under any server, as often as it is started."""
    lifecycle = Lifecycle()
    app = create_app(Settings(), Registry(), lifecycle)
    phases = []

    async with app.router.lifespan_context(app):
        phases.append(lifecycle.phase)
    async with app.router.lifespan_context(app):
        phases.append(lifecycle.phase)

    assert phases == ["ready", "ready"]


@pytest.mark.parametrize("phase", ["starting", "draining"])
async def test_it_wants_traffic_only_when_it_is_ready(phase: str) -> None:
    """Orchestrators look at the status; the problem tells people."""
    lifecycle = Lifecycle()
    lifecycle.phase = phase  # type: ignore[assignment]

    async with client_of(lifecycle) as client:
        ready = await client.get("/readyz", headers={"X-Request-Id": "one"})
        alive = await client.get("/healthz")

    assert ready.status_code == 503
    assert ready.headers["Content-Type"] == "application/problem+json"
    assert ready.json() == {
        "type": "urn:sidecall:problem:not-ready",
        "title": "The server wants no traffic now.",
        "status": 503,
        "detail": f"It is {phase}; other requests in flight: 0.",
        "instance": "one",
        "phase": phase,
    }
    assert alive.status_code == 200


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SIDECALL_PROT", "SIDECALL_PORT"),
        ("SIDECALL_MAX_BODY_BYTE", "SIDECALL_MAX_BODY_BYTES"),
        ("sidecall_thread", "SIDECALL_THREADS"),
    ],
)
def test_a_misspelt_setting_stops_the_start(name: str, meant: str) -> None:
    """A limit that was set and does not hold would be found out too late."""
    with pytest.raises(UnknownSetting) as caught:
        unknown_names(dict.fromkeys(["HOME", "SIDECALL_HOST", name], "8"))

    assert caught.value.message == f"There is no setting {name.upper()}; write {meant}."


def test_an_empty_variable_is_not_set_however_it_is_spelt() -> None:
    """Compose files and scripts pass on what nobody has set."""
    assert unknown_names({"SIDECALL_PROT": "", "SIDECALL_URL": ""}) == []


def test_variables_of_others_are_borne() -> None:
    """Those of agents, those that Kubernetes makes for a Service named sidecall, and those of later versions."""
    names = [
        "SIDECALL_URL",
        "SIDECALL_SERVICE_HOST",
        "SIDECALL_SERVICE_PORT",
        "SIDECALL_SERVICE_PORT_HTTP",
        "SIDECALL_PORT_8000_TCP",
        "SIDECALL_PORT_8000_TCP_ADDR",
        "SIDECALL_PORT_8000_TCP_PORT",
        "SIDECALL_PORT_8000_TCP_PROTO",
    ]

    assert unknown_names(dict.fromkeys(["PATH", "SIDECALL_PORT", "sidecall_tools", *names], "8")) == sorted(names)


def test_a_port_that_kubernetes_made_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the name of a setting, but is an address."""
    monkeypatch.setenv("SIDECALL_PORT", "tcp://10.0.0.1:8000")

    with pytest.raises(ValidationError) as caught:
        Settings()

    assert [error["msg"] for error in caught.value.errors()] == [
        "Value error, tcp://10.0.0.1:8000 comes from a Kubernetes Service named sidecall; set enableServiceLinks: false"
    ]
