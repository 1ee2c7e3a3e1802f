"""Messages are signed as Standard Webhooks says."""

from sidecall.features.webhooks.signing import read_key, sign

KEY = read_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


def test_the_example_of_the_standards_own_libraries() -> None:
    """They sign this message so."""
    headers = sign([KEY], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_each_key_signs() -> None:
    """Receivers that know the old or the new secret are both satisfied."""
    one, other = (sign([key], "m", 1, b"")["webhook-signature"] for key in (KEY, b"x" * 24))

    assert sign([KEY, b"x" * 24], "m", 1, b"")["webhook-signature"] == f"{one} {other}"
