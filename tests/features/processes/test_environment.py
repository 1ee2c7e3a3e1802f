"""Tools in processes see no more of the server's environment than programs need."""

import pytest

from sidecall.features.processes.environment import choose_variables

PRESENT = {
    "PATH": "/bin",
    "LC_ALL": "C",
    "HTTPS_PROXY": "http://proxy",
    "OPENAI_API_KEY": "canary",
    "SIDECALL_SECRETS_KEY": "canary",
    "DATABASE_URL": "canary",
    "AWS_REGION": "here",
    "OTEL_SERVICE_NAME": "tools",
}
NEEDED = {"PATH", "LC_ALL", "HTTPS_PROXY"}


@pytest.mark.parametrize(
    ("more", "traces", "expected"),
    [
        ((), False, NEEDED),
        (("AWS_*", "DATABASE_URL"), False, NEEDED | {"AWS_REGION", "DATABASE_URL"}),
        ((), True, NEEDED | {"OTEL_SERVICE_NAME"}),
        (("*",), False, set(PRESENT)),
    ],
)
def test_variables_are_chosen(more: tuple[str, ...], traces: bool, expected: set[str]) -> None:
    """By their names."""
    assert set(choose_variables(PRESENT, more, traces=traces)) == expected
