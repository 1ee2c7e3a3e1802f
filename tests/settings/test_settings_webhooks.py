"""What is set about webhooks is checked at the start, and the secret is never shown."""

import pytest
from pydantic import ValidationError

from sidecall.settings import Settings
from tests.features.webhooks.listening import SECRET


def test_several_hosts_and_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment."""
    monkeypatch.setenv("SIDECALL_WEBHOOK_HOSTS", "hooks.example.com, http://localhost:9000")
    monkeypatch.setenv("SIDECALL_WEBHOOK_SECRET", f"{SECRET} {SECRET}")

    settings = Settings()

    assert settings.webhook_hosts == ("hooks.example.com", "http://localhost:9000")
    assert settings.webhook_keys == [SECRET, SECRET]
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"webhook_hosts": "*"}, "is no host"),
        ({"webhook_hosts": "hooks.example.com"}, "SIDECALL_WEBHOOK_HOSTS needs it"),
        ({"webhook_hosts": "hooks.example.com", "webhook_secret": " "}, "SIDECALL_WEBHOOK_HOSTS needs it"),
        ({"webhook_secret": "secret"}, "write whsec_ and the base64 of 24 to 64 random bytes"),
        ({"webhook_secret": "whsec_c2hvcnQ="}, "write whsec_ and the base64 of 24 to 64 random bytes"),
        ({"webhook_secret": f"{SECRET} whsec_!"}, "write whsec_ and the base64 of 24 to 64 random bytes"),
    ],
)
def test_what_does_not_fit_stops_the_start(values: dict[str, str], reason: str) -> None:
    """With what to write."""
    with pytest.raises(ValidationError, match=reason):
        Settings(**values)  # type: ignore[arg-type]
