"""Hosts whose names are none are refused before anything fails at them."""

import httpx
import pytest

from sidecall import guarded_async_client, guarded_client
from tests.outgoing.sites import serving

NAMELESS = pytest.mark.parametrize("host", ["xn--", "xn--a", "xn--ls8h="])


@NAMELESS
async def test_a_host_that_is_no_name_is_no_url(host: str) -> None:
    """No matter which client is asked for it."""
    with guarded_client() as client, pytest.raises(httpx.InvalidURL):
        client.get(f"http://{host}/")
    async with guarded_async_client() as asyncs:
        with pytest.raises(httpx.InvalidURL):
            await asyncs.get(f"http://{host}/")


@NAMELESS
async def test_an_answer_that_leads_to_no_name_leads_nowhere(host: str) -> None:
    """It is the answer."""
    with serving() as site:
        site.redirect("/", f"//{host}/")
        with guarded_client(private=[f"127.0.0.1:{site.port}"], follow_redirects=True) as client:
            first = client.get(site.url)
        async with guarded_async_client(private=[f"127.0.0.1:{site.port}"]) as asyncs:
            second = await asyncs.get(site.url)

    assert (first.status_code, second.status_code) == (302, 302)


def test_a_target_that_is_no_url_is_left_to_the_client() -> None:
    """Which says so as it always has."""
    with serving() as site:
        site.redirect("/", "http://a:b:c/")
        with guarded_client(private=[f"127.0.0.1:{site.port}"]) as client, pytest.raises(httpx.RemoteProtocolError):
            client.get(site.url)
