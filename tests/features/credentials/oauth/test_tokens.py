"""Tokens are refreshed in time, by one at a time, and kept as they change."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecall.features.audit.auditor import Auditor
from sidecall.features.audit.stores import MemoryAudit
from sidecall.features.credentials.encryption import Sealer
from sidecall.features.credentials.oauth.provider_client import Grant
from sidecall.features.credentials.oauth.providers import read_providers
from sidecall.features.credentials.oauth.settings import SignInUrls
from sidecall.features.credentials.oauth.token_store import StoredToken, TokenStore
from sidecall.features.credentials.oauth.tokens import TokenKeeper, open_sign_in
from sidecall.features.credentials.own_secrets import SecretKeeper
from sidecall.features.credentials.stores import MemorySecrets, SqlSecrets
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.secrets import SealedSecrets
from sidecall.kernel.ports.user_tokens import TokenUnavailable
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.callers.provider import LocalProvider
from tests.kit.callers.secrets import NEWER_KEY, SECRETS_KEY
from tests.kit.ledgers import Clock
from tests.kit.waiting import until

ADA = Caller("ada")


@pytest.fixture(params=["memory", "sqlite"])
async def places(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SealedSecrets]:
    """Give each place where tokens may be kept."""
    if request.param == "memory":
        yield MemorySecrets()
        return
    database = SqliteDatabase(tmp_path / "ledger.db")
    await database.open()
    yield SqlSecrets(database)
    await database.close()


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands at 1000."""
    return Clock(1000.0)


def keep(provider: LocalProvider, places: SealedSecrets, clock: Clock) -> TokenKeeper:
    """Make what keeps tokens in one worker."""
    auditor, sealer = Auditor(MemoryAudit()), Sealer([SECRETS_KEY])
    providers = read_providers(provider.write_settings())
    tokens = open_sign_in(providers, places, sealer, auditor, SignInUrls("http://here", 60.0)).tokens
    tokens._clock = clock
    return tokens


async def give(provider: LocalProvider, places: SealedSecrets, clock: Clock) -> None:
    """Let ada have signed in a while ago, with a token for a hundred seconds."""
    provider.grants["ada-refresh-0"] = "ada"
    token = StoredToken.of(Grant("ada-access-0", 100.0, "ada-refresh-0"), clock())
    await TokenStore(places, Sealer([SECRETS_KEY])).put(ADA, "hub", token)


async def test_a_token_is_refreshed_before_it_expires(
    provider: LocalProvider, places: SealedSecrets, clock: Clock
) -> None:
    """Not while it is fresh, and with the refresh token that came last."""
    provider.seconds = 100
    await give(provider, places, clock)
    tokens, found = keep(provider, places, clock), []
    for now in (1000.0, 1089.0, 1090.5, 1100.0, 1300.0):
        clock.now = now
        found.append(await tokens.find(ADA, "hub"))

    assert found == ["ada-access-0", "ada-access-0", "ada-access-1", "ada-access-1", "ada-access-2"]
    assert provider.count("refresh_token") == 2


async def test_calls_and_workers_refresh_one_at_a_time(
    provider: LocalProvider, places: SealedSecrets, clock: Clock
) -> None:
    """A provider that gives each refresh token once would else take all of them back."""
    await give(provider, places, clock)
    workers = [keep(provider, places, clock) for _ in range(3)]
    clock.now = 1095.0

    found = await asyncio.gather(*(worker.find(ADA, "hub") for worker in workers * 5))

    assert found == ["ada-access-1"] * 15
    assert provider.count("refresh_token") == 1


async def test_a_call_that_is_broken_off_loses_no_token(
    provider: LocalProvider, places: SealedSecrets, clock: Clock
) -> None:
    """What it has begun to refresh is kept."""
    await give(provider, places, clock)
    tokens = keep(provider, places, clock)
    clock.now = 1095.0
    call = asyncio.create_task(tokens.find(ADA, "hub"))
    await until(lambda: provider.count("refresh_token") == 1)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await tokens.close()

    assert await tokens.find(ADA, "hub") == "ada-access-1"
    assert provider.count("refresh_token") == 1


async def test_a_worker_that_ended_while_refreshing_keeps_nobody_from_it(
    provider: LocalProvider, places: SealedSecrets, clock: Clock
) -> None:
    """Its claim ends."""
    await give(provider, places, clock)
    store = TokenStore(places, Sealer([SECRETS_KEY]))
    kept = await store.find(ADA, "hub")
    assert kept is not None
    assert await store.swap(ADA, "hub", kept, kept.token.claimed("gone", 1100.0))
    clock.now = 1100.5

    assert await keep(provider, places, clock).find(ADA, "hub") == "ada-access-1"


async def test_a_refresh_token_that_is_refused_is_forgotten(
    provider: LocalProvider, places: SealedSecrets, clock: Clock
) -> None:
    """The person has to sign in again."""
    await give(provider, places, clock)
    provider.forget("ada")
    clock.now = 1095.0
    tokens = keep(provider, places, clock)

    assert await tokens.find(ADA, "hub") is None
    assert await tokens.list(ADA) == []


async def test_while_a_provider_is_down_a_token_is_used_to_its_end(
    provider: LocalProvider, places: SealedSecrets, clock: Clock
) -> None:
    """And refreshed when it is there again; it is not forgotten."""
    await give(provider, places, clock)
    tokens = keep(provider, places, clock)
    provider.is_down = True
    clock.now = 1095.0
    assert await tokens.find(ADA, "hub") == "ada-access-0"
    clock.now = 1101.0
    with pytest.raises(TokenUnavailable, match="hub: it answers 503, temporarily_unavailable"):
        await tokens.find(ADA, "hub")
    provider.is_down = False

    assert await tokens.find(ADA, "hub") == "ada-access-1"


@pytest.mark.parametrize(
    ("seconds", "now", "expected"), [(100.0, 1099.0, "x"), (100.0, 1100.0, None), (None, 9e9, "x")]
)
async def test_a_token_without_a_refresh_token_is_used_up(
    provider: LocalProvider, clock: Clock, seconds: float | None, now: float, expected: str | None
) -> None:
    """Until it expires, if it does."""
    places = MemorySecrets()
    token = StoredToken.of(Grant("x", seconds, None), clock())
    await TokenStore(places, Sealer([SECRETS_KEY])).put(ADA, "hub", token)
    clock.now = now

    assert await keep(provider, places, clock).find(ADA, "hub") == expected


async def test_a_key_can_be_changed(provider: LocalProvider, places: SealedSecrets, clock: Clock) -> None:
    """Tokens are encrypted anew as secrets are, and no row says one."""
    await give(provider, places, clock)
    await SecretKeeper(places, Sealer([NEWER_KEY, SECRETS_KEY]), Auditor(MemoryAudit())).open()
    sealed = await places.find(ADA, ["oauth:token:hub"])
    kept = await TokenStore(places, Sealer([NEWER_KEY])).find(ADA, "hub")

    assert kept is not None
    assert kept.token.refresh_token == "ada-refresh-0"
    assert all(b"ada-" not in it.sealed for it in sealed)
