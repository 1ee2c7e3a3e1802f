"""A server knows its names, and no other leads to it."""

import pytest

from sidecall.http.origin_policy import OwnHosts

LOOPBACK = "127.0.0.1"
REACHED = "0.0.0.0"


@pytest.mark.parametrize("bound", [LOOPBACK, "::1", "localhost", REACHED, "::", "192.0.2.7", "tools.example.com"])
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:8000",
        "127.1.2.3:80",
        "localhost:8000",
        "LocalHost",
        "localhost.",
        "my.localhost:8000",
        "[::1]:8000",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]:8000",
    ],
)
def test_loopback_is_always_its_own(bound: str, host: str) -> None:
    """On each address it is bound to; the port does not matter."""
    assert OwnHosts(bound).include(host)


@pytest.mark.parametrize("bound", [LOOPBACK, "::1", "localhost", REACHED, "192.0.2.7", "tools.example.com"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "evil-localhost.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "sidecall.tools",  # a Service and its namespace; but anybody may own a name below `.tools`
        "svc.example",
        "",
        ":8000",
        "127.0.0.1:8000:8000",
        "127.0.0.1, evil.example",
        "evil.example/127.0.0.1",
        "[::1",
        "localhost ",
        "löcalhost",
        f"{'a' * 254}",
    ],
)
def test_no_other_name_leads_to_it(bound: str, host: str) -> None:
    """The owner of a name can make it lead to this machine."""
    assert not OwnHosts(bound).include(host)


@pytest.mark.parametrize("bound", [REACHED, "::", "192.0.2.7", "tools.example.com"])
@pytest.mark.parametrize(
    "host",
    [
        "sidecall:8000",
        "my_sidecall",
        "sidecall.prod.svc",
        "sidecall.prod.svc.cluster.local:8000",
        "host.docker.internal:8000",
        "printer.local",
        "10.1.2.3:8000",
        "203.0.113.9",
        "[2001:db8::1]:8000",
        "0.0.0.0:8000",
    ],
)
def test_containers_and_services_call_by_names_that_nobody_else_can_own(bound: str, host: str) -> None:
    """Where other machines reach the server; on loopback nobody has to call it so."""
    assert OwnHosts(bound).include(host)
    assert not OwnHosts(LOOPBACK).include(host)


@pytest.mark.parametrize(
    ("named", "host", "is_own"),
    [
        ("tools.example.com", "tools.example.com:443", True),
        ("Tools.Example.com.", "tools.example.COM", True),
        ("tools.example.com", "more.tools.example.com", False),
        ("*.example.com", "tools.example.com", True),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("10.1.2.3", "10.1.2.3:8000", True),
        ("[2001:db8::1]", "[2001:DB8:0::1]:8000", True),
        ("2001:db8::1", "[2001:db8::1]", True),
        ("*", "evil.example", True),
        ("*", "not a host", False),
    ],
)
def test_an_operator_names_more(named: str, host: str, is_own: bool) -> None:
    """Exactly, all below a name, or all."""
    assert OwnHosts(LOOPBACK, [named]).include(host) is is_own


@pytest.mark.parametrize(
    ("bound", "host"), [("tools.example.com", "tools.example.com:8000"), ("2001:db8::1", "[2001:db8::1]:8000")]
)
def test_the_address_it_is_bound_to_is_its_own(bound: str, host: str) -> None:
    """The setting `host`."""
    assert OwnHosts(bound).include(host)
