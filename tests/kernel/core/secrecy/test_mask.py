"""Secrets are masked in every usual spelling, and nothing else is."""

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest

from sidecall.kernel.core.secret_mask import MASKED, SecretMask

SECRETS = [
    "s3cret-canary",
    "päss wörd/+&=%?",
    'with "quotes" and \\ slash',
    "-----BEGIN KEY-----\nabcdefghijklmnopqrst\n",
]


def make_mask(*secrets: str) -> SecretMask:
    """Mask these."""
    mask = SecretMask()
    for secret in secrets:
        mask.add(secret)
    return mask


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "spell",
    [
        str,
        json.dumps,
        lambda secret: json.dumps(secret, ensure_ascii=False),
        lambda secret: json.dumps(json.dumps({"a": secret})),
        repr,
        quote,
        quote_plus,
        lambda secret: quote(secret, safe=""),
        lambda secret: urlencode({"key": secret}),
        lambda secret: "%".join(part[:2].lower() + part[2:] for part in quote(f" {secret}").split("%")),
        lambda secret: secret.encode().hex(),
        lambda secret: secret.encode().hex().upper(),
        *(lambda secret, user="u" * n: base64.b64encode(f"{user}:{secret}:x".encode()).decode() for n in range(3)),
        *(lambda secret, user="u" * n: base64.urlsafe_b64encode(f"{user}{secret}".encode()).decode() for n in range(3)),
    ],
)
def test_a_secret_is_masked_however_it_is_spelled(secret: str, spell: Any) -> None:
    """In the middle of a text."""
    text = f"before {spell(secret)} after"

    shown = make_mask(secret).hide_in_text(text)

    assert MASKED in shown
    assert secret not in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert len(shown) < len(text) or len(secret) < 20


def test_a_value_is_masked_in_depth() -> None:
    """Names of fields, too; numbers only where they are the secret."""
    value = {"a": ["x s3cret y", {"s3cret": 1}], "b": (True, None, 123456, 7), "c": 1.5}

    shown = make_mask("s3cret", "123456").hide(value)

    assert shown == {"a": [f"x {MASKED} y", {MASKED: 1}], "b": [True, None, MASKED, 7], "c": 1.5}


@pytest.mark.parametrize("secret", ["", "1", "abc"])
def test_what_is_too_short_to_be_a_secret_is_not_masked(secret: str) -> None:
    """Nothing could be read any more."""
    assert make_mask(secret).hide_in_text("1 abc") == "1 abc"


def test_a_longer_secret_is_masked_whole() -> None:
    """Also where a shorter one stands in it."""
    assert make_mask("token", "token-and-more").hide_in_text("a token-and-more") == f"a {MASKED}"


@pytest.mark.parametrize(
    ("text", "expected"), [("abx", 0), ("abc s3c", 3), ("s3s3", 2), ("x s3cre", 5), ("s", 1), ("", 0)]
)
def test_the_beginning_of_a_secret_is_seen(text: str, expected: int) -> None:
    """So that it can wait for the rest."""
    assert make_mask("s3cret").measure_begun(text) == expected
