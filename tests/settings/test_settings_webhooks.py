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
    ("text", "urls"),
    [
        ("", []),
        (" , ", []),
        ("https://a.example/x", ["https://a.example/x"]),
        (
            "https://a.example/x,http://b.internal:9000/ \n https://a.example/x",
            ["https://a.example/x", "http://b.internal:9000/"],
        ),
    ],
)
def test_who_is_told_of_approvals(monkeypatch: pytest.MonkeyPatch, text: str, urls: list[str]) -> None:
    """Each once; an address may have a secret in it."""
    monkeypatch.setenv("SIDECALL_APPROVAL_WEBHOOKS", text)
    monkeypatch.setenv("SIDECALL_WEBHOOK_SECRET", SECRET)

    settings = Settings()

    assert settings.approval_receivers == urls
    assert "a.example" not in repr(settings)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"webhook_hosts": "*"}, "is no host"),
        ({"webhook_hosts": "hooks.example.com"}, "SIDECALL_WEBHOOK_HOSTS needs it"),
        ({"webhook_hosts": "hooks.example.com", "webhook_secret": " "}, "SIDECALL_WEBHOOK_HOSTS needs it"),
        ({"approval_webhooks": "https://hooks.example.com/a"}, "SIDECALL_APPROVAL_WEBHOOKS needs it"),
        ({"approval_webhooks": "hooks.example.com", "webhook_secret": SECRET}, "write addresses such as https://"),
        ({"approval_webhooks": "https://a.example https://u:p@b", "webhook_secret": SECRET}, "write addresses such as"),
        ({"approval_webhooks": "https://a.example/#b", "webhook_secret": SECRET}, "write addresses such as https://"),
        ({"approval_webhooks": "ftp://a.example/", "webhook_secret": SECRET}, "write addresses such as https://"),
        ({"approval_expiry_notice": "-1"}, "greater than or equal to 0"),
        ({"webhook_secret": "secret"}, "write whsec_ and the base64 of 24 to 64 random bytes"),
        ({"webhook_secret": "whsec_c2hvcnQ="}, "write whsec_ and the base64 of 24 to 64 random bytes"),
        ({"webhook_secret": f"{SECRET} whsec_!"}, "write whsec_ and the base64 of 24 to 64 random bytes"),
    ],
)
def test_what_does_not_fit_stops_the_start(values: dict[str, str], reason: str) -> None:
    """With what to write."""
    with pytest.raises(ValidationError, match=reason):
        Settings(**values)  # type: ignore[arg-type]
