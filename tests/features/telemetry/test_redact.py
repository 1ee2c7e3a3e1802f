"""Secrets, oddities and sheer size stay out of the log."""

from typing import Any

import pytest

from sidecall.features.telemetry.redact import Redaction

REDACTION = Redaction(("Kunden-Nr", ""))


class Unwritable:
    """Crash when it is written."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "name",
    """password Password user_password userPassword passwd token access_token accessToken secret client_secret
    secret_key api_key apiKey APIKEY X-Api-Key x-api-key authorization Authorization auth credentials cookie
    Set-Cookie private_key jwt kunden_nr KundenNr tokens refreshTokens apikeys JWTToken DBPassword dbPassword1 XAPIKEY
    userpassword passwords token2""".split(),
)
def test_fields_with_secrets_are_known_by_name(name: str) -> None:
    """However the words are joined."""
    assert REDACTION.redact_fields({name: "canary-4711"}) == {name: "[redacted]"}


@pytest.mark.parametrize(
    "name",
    """max_tokens tokenizer author monkey passenger query key secretary cookies_eaten total_tokens completionTokens
    max_output_tokens tokens_left name value""".split(),
)
def test_fields_that_only_sound_like_it_are_shown(name: str) -> None:
    """Whole words count."""
    assert REDACTION.redact_fields({name: 7}) == {name: 7}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param({"a": [{"token": "x", "b": 1}]}, {"a": [{"token": "[redacted]", "b": 1}]}, id="nested"),
        pytest.param({"token": {"a": 1}}, {"token": "[redacted]"}, id="a whole object"),
        pytest.param(' \n{"token": "x"}', {"token": "[redacted]"}, id="such a text behind blanks"),
        pytest.param(
            [{"name": "password", "value": "x"}, {"key": "user", "value": "y"}, {"name": 7, "value": 8}],
            [{"name": "password", "value": "[redacted]"}, {"key": "user", "value": "y"}, {"name": 7, "value": 8}],
            id="named by a member beside it",
        ),
        pytest.param('{"token": "x", "b": 1}', {"token": "[redacted]", "b": 1}, id="a text that is JSON"),
        pytest.param(['[{"token": "x"}]'], [[{"token": "[redacted]"}]], id="such a text in a list"),
        pytest.param('{"token": "x', "a text of 12 characters", id="such a text, cut"),
        pytest.param("[" * 50_000, "a text of 50000 characters", id="such a text, too deep"),
        pytest.param("x" * 1002, "x" * 1000 + "… 2 more characters", id="long text"),
        pytest.param([7] * 52, [7] * 50 + ["… 2 more"], id="long list"),
        pytest.param({str(n): n for n in range(51)}, {str(n): n for n in range(50)} | {"…": "1 more"}, id="many"),
        pytest.param([[[[[[[[[1]]]]]]]]], [[[[[[[["…"]]]]]]]], id="deep"),
        pytest.param([None, True, 1.5], [None, True, 1.5], id="plain"),
        pytest.param([float("nan"), float("-inf")], ["nan", "-inf"], id="no numbers of JSON"),
        pytest.param(10**5000, "a number of 16610 bits", id="huge number"),
        pytest.param((1, {2}), [1, [2]], id="other collections"),
        pytest.param(b"x", "b'x'", id="other objects"),
        pytest.param(Unwritable(), "a Unwritable that cannot be written", id="objects that crash"),
    ],
)
def test_values_are_made_fit_for_a_line(value: Any, shown: Any) -> None:
    """No matter what a model or a tool came up with."""
    assert REDACTION.redact(value) == shown
