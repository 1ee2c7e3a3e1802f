"""A misspelt parameter is refused on every route that reads any; what machines probe takes anything that comes."""

from tests.kit.callers.requests import REQUESTS
from tests.kit.clients import MakeClient
from tests.kit.tools import echo

_PROBED = ("/healthz", "/readyz", "/metrics", "/openapi.json", "/docs")


async def test_each_route_refuses_a_parameter_that_it_does_not_know(make_client: MakeClient) -> None:
    """Before it looks for anything."""
    client = await make_client(echo, toolkits=("file_search",))
    asked = [(method, path) for method, path, _ in REQUESTS if path not in _PROBED]

    said = {it: (await client.request(*it, params={"surprise": "1"})).json().get("type") for it in asked}

    assert said == dict.fromkeys(asked, "urn:sidecall:problem:unknown-parameter")


async def test_probes_pass_over_what_they_do_not_know(make_client: MakeClient) -> None:
    """Some scrapers and balancers add something of their own."""
    client = await make_client(echo)

    assert [(await client.get(path, params={"surprise": "1"})).status_code for path in _PROBED] == [200] * 5
