"""The keys of an issuer are fetched from where its operator says, and from public hosts."""

import json
from collections.abc import Iterator

import pytest
from joserfc.jwk import ECKey, KeySet

from sidecall.features.access.auth_methods import IssuerUnreachable
from sidecall.features.access.jwks import IssuerKeys
from tests.outgoing.sites import Site, serving

WELL_KNOWN = "/.well-known/openid-configuration"
PUBLISHED = KeySet([ECKey.generate_key("P-256", {"kid": "one"})]).as_dict(private=False)


@pytest.fixture(name="site")
def serve_keys() -> Iterator[Site]:
    """Serve a set of keys in a private network."""
    with serving() as site:
        site.give("/keys", json.dumps(PUBLISHED), "application/json")
        yield site


def lead(site: Site, jwks_uri: str) -> None:
    """Let the issuer say where its keys are."""
    site.give(WELL_KNOWN, json.dumps({"issuer": site.url, "jwks_uri": jwks_uri}), "application/json")


@pytest.mark.parametrize("is_named", [True, False])
async def test_an_issuer_that_the_operator_names_may_be_private(site: Site, is_named: bool) -> None:
    """Its keys too, where it has them itself."""
    lead(site, f"{site.url}/keys")

    keys = await IssuerKeys(site.url, f"{site.url}/keys" if is_named else None).get()

    assert [key.kid for key in keys] == ["one"]


async def test_an_issuer_leads_nobody_to_another_private_host(site: Site) -> None:
    """An attacker who has taken it over gets no further."""
    lead(site, f"http://localhost:{site.port}/keys")

    with pytest.raises(IssuerUnreachable):
        await IssuerKeys(site.url, None).get()

    assert [path for _, path in site.asked] == [WELL_KNOWN]


async def test_keys_are_fetched_through_the_proxy(site: Site) -> None:
    """Where one is set."""
    site.give("http://issuer.example/keys", json.dumps(PUBLISHED), "application/json")

    keys = await IssuerKeys("http://issuer.example", "http://issuer.example/keys", proxy=site.url).get()

    assert [key.kid for key in keys] == ["one"]
