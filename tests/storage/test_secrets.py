"""Secrets of callers are kept, each for its caller and name, in a bounded number."""

import pytest

from sidecall import Caller
from sidecall.kernel.ports.secrets import SealedSecret, SealedSecrets, TooManySecrets, UnknownSecret
from tests.kit.ledgers import Clock, Place

ADA, BOB, OTHER_ADA = Caller("ada", "acme"), Caller("bob", "acme"), Caller("ada", "other")


def make_secret(name: str = "KEY", sealed: bytes = b"\x00\xff", caller: Caller = ADA, key: str = "k1") -> SealedSecret:
    """Make a secret of Ada's."""
    return SealedSecret(caller.tenant, caller.subject, name, key, sealed)


@pytest.fixture
def places(ledger: Place, clock: Clock) -> SealedSecrets:
    """Keep two secrets."""
    return ledger.secrets(2, clock)


async def test_a_secret_is_found_as_it_was_put(places: SealedSecrets) -> None:
    """By its caller alone."""
    await places.put(make_secret())

    assert await places.find(ADA, ["KEY", "OTHER", "KEY"]) == [make_secret()]
    assert [await places.find(caller, ["KEY"]) for caller in (BOB, OTHER_ADA)] == [[], []]
    assert [await places.list(caller) for caller in (BOB, OTHER_ADA)] == [[], []]


async def test_the_last_value_counts(places: SealedSecrets, clock: Clock) -> None:
    """It takes no more room."""
    await places.put(make_secret())
    await places.put(make_secret("B"))
    clock.now += 5
    await places.put(make_secret(sealed=b"new"))
    listed = {it.name: (it.updated_at - it.created_at).total_seconds() for it in await places.list(ADA)}

    assert await places.find(ADA, ["KEY"]) == [make_secret(sealed=b"new")]
    assert listed == {"B": 0.0, "KEY": 5.0}


async def test_there_is_an_end_of_room(places: SealedSecrets) -> None:
    """For all callers together."""
    await places.put(make_secret())
    await places.put(make_secret(caller=BOB))
    with pytest.raises(TooManySecrets):
        await places.put(make_secret("C"))
    await places.remove(BOB, "KEY")
    await places.put(make_secret("C"))

    assert [it.name for it in await places.list(ADA)] == ["C", "KEY"]


async def test_a_secret_is_removed_once_and_by_its_caller(places: SealedSecrets) -> None:
    """Others have none of this name."""
    await places.put(make_secret())
    for caller in (BOB, OTHER_ADA):
        with pytest.raises(UnknownSecret):
            await places.remove(caller, "KEY")
    await places.remove(ADA, "KEY")
    with pytest.raises(UnknownSecret):
        await places.remove(ADA, "KEY")

    assert await places.list(ADA) == []


async def test_old_ones_are_renewed(places: SealedSecrets) -> None:
    """Unless they were replaced meanwhile."""
    old, replaced = make_secret(), make_secret("B", b"before")
    await places.put(old)
    await places.put(make_secret("B", b"after"))
    await places.renew(old, make_secret(sealed=b"new", key="k2"))
    await places.renew(replaced, make_secret("B", b"wrong", key="k2"))

    assert await places.list_old("k2") == [make_secret("B", b"after")]
    assert await places.list_old("k1") == [make_secret(sealed=b"new", key="k2")]
