"""Servers and workers that the bus knows by files of credentials."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecall.features.fleet.access import BusAccess, CredentialsUnusable
from tests.kit.fleets import Fleet, call, is_available, wait_for
from tests.kit.nats import Broker, running_broker
from tests.kit.nats_accounts import make_accounts


@pytest.fixture(scope="module")
def credentials(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Make an account, and a user of it."""
    return make_accounts(tmp_path_factory.mktemp("accounts"))


@pytest.fixture(scope="module")
def broker(credentials: tuple[str, Path]) -> Iterator[Broker]:
    """Start a bus that knows this account."""
    with running_broker(credentials[0]) as made:
        yield made


def test_calls_run_with_credentials_and_without_none(fleet: Fleet, credentials: tuple[str, Path]) -> None:
    """Who has none is told so."""
    given = {"SIDECALL_FLEET_CREDENTIALS": str(credentials[1])}
    server = fleet.serve(**given)
    fleet.work("cpu", **given)
    stranger = fleet.work("cpu")
    wait_for(lambda: is_available(server, "echo"))
    assert call(server, "echo", text="on").json()["content"] == "on"
    assert "cpu" in fleet.ask("fleet", **given)
    stranger.wait_for("uthorization")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n",
        "-----BEGIN NATS USER JWT-----\neyJ0\n------END NATS USER JWT------\n"
        "-----BEGIN USER NKEY SEED-----\nSUAB\n------END USER NKEY SEED------\n",
    ],
    ids=["empty", "no seed", "a seed that is cut off"],
)
def test_a_file_without_credentials_is_named(tmp_path: Path, text: str) -> None:
    """With what writes one."""
    file = tmp_path / "wrong.creds"
    file.write_text(text)
    with pytest.raises(CredentialsUnusable, match=r"wrong\.creds.*nsc generate creds"):
        BusAccess(("nats://127.0.0.1",), credentials=str(file)).list_options()


@pytest.mark.parametrize(
    ("urls", "options"),
    [
        (("nats://a:4222",), {"servers": ["nats://a:4222"]}),
        (
            ("nats://u:p%40ss@a", "nats://u:p@b:1"),
            {"servers": ["nats://a", "nats://b:1"], "user": "u", "password": "p@ss"},
        ),
        (("nats://t%3Aoken@a",), {"servers": ["nats://a"], "token": "t:oken"}),
    ],
)
def test_users_of_addresses_are_given_to_each_server(urls: tuple[str, ...], options: dict[str, object]) -> None:
    """With their special characters."""
    assert BusAccess(urls).list_options() == {"tls": None, **options}
