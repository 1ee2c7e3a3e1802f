"""A secret is encrypted for one caller and one name, and keys can be changed."""

from dataclasses import replace
from typing import Any

import pytest

from sidecall.features.audit.auditor import Auditor
from sidecall.features.audit.stores import MemoryAudit
from sidecall.features.credentials.encryption import Sealer
from sidecall.features.credentials.own_secrets import SecretKeeper
from sidecall.features.credentials.stores import MemorySecrets
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.secrets import SecretsOff, SecretUnreadable
from tests.kit.callers.secrets import NEWER_KEY, SECRETS_KEY

ADA = Caller("ada", "acme")


def test_a_sealed_secret_is_opened() -> None:
    """What is kept is neither the value nor twice the same."""
    sealer = Sealer([SECRETS_KEY])
    one, two = (sealer.seal("acme", "ada", "KEY", "schlüssel") for _ in range(2))

    assert sealer.unseal(one) == sealer.unseal(two) == "schlüssel"
    assert one.sealed != two.sealed
    assert "schlüssel".encode() not in one.sealed


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "other"},
        {"caller": "bob"},
        {"name": "OTHER"},
        {"key_id": "unknown"},
        {"sealed": b""},
        {"sealed": bytes(40)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_secret_in_another_place_is_not_opened(change: Any) -> None:
    """Anyone who can write into the database cannot hand it to somebody else."""
    sealer = Sealer([SECRETS_KEY])
    secret = sealer.seal("acme", "ada", "KEY", "s3cret-canary")

    with pytest.raises(SecretUnreadable) as error:
        sealer.unseal(replace(secret, **change))

    assert "s3cret-canary" not in str(error.value)


async def test_keys_are_changed() -> None:
    """At the start all is encrypted anew with the first, and the older one is needed no more."""
    places, auditor = MemorySecrets(), Auditor(MemoryAudit())
    old = SecretKeeper(places, Sealer([SECRETS_KEY]), auditor)
    for number in range(250):
        await old.put(ADA, f"KEY{number}", f"value {number}")
    both = SecretKeeper(places, Sealer([NEWER_KEY, SECRETS_KEY]), auditor)
    before = await both.find(ADA, ["KEY7"])
    await both.open()
    new = SecretKeeper(places, Sealer([NEWER_KEY]), auditor)

    assert before == {"KEY7": "value 7"}
    assert await new.find(ADA, ["KEY7", "KEY249"]) == {"KEY7": "value 7", "KEY249": "value 249"}
    with pytest.raises(SecretUnreadable):
        await old.find(ADA, ["KEY7"])


async def test_what_no_key_opens_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """And left as it is, until the key is there again."""
    places, auditor = MemorySecrets(), Auditor(MemoryAudit())
    await SecretKeeper(places, Sealer([SECRETS_KEY]), auditor).put(ADA, "KEY", "value")
    await SecretKeeper(places, Sealer([NEWER_KEY]), auditor).open()

    assert "secrets of callers that no key of SIDECALL_SECRETS_KEY decrypts: 1" in caplog.messages
    assert await SecretKeeper(places, Sealer([SECRETS_KEY]), auditor).find(ADA, ["KEY"]) == {"KEY": "value"}


async def test_without_a_key_no_secret_is_kept_or_found(caplog: pytest.LogCaptureFixture) -> None:
    """Those that are there are told of, and can be removed; they are not as if they were not there."""
    places, auditor = MemorySecrets(), Auditor(MemoryAudit())
    await SecretKeeper(places, Sealer([SECRETS_KEY]), auditor).put(ADA, "KEY", "value")
    off = SecretKeeper(places, None, auditor)
    await off.open()
    with pytest.raises(SecretsOff):
        await off.put(ADA, "OTHER", "value")
    with pytest.raises(SecretUnreadable):
        await off.find(ADA, ["KEY"])
    others = await off.find(ADA, ["OTHER"])
    await off.remove(ADA, "KEY")

    assert (others, await off.list(ADA)) == ({}, [])
    errors = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert errors == ["secrets of callers are kept here, and there is no SIDECALL_SECRETS_KEY to decrypt them"]
