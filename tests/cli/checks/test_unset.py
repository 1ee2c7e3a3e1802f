"""`sidecall check` names what tools take of the server that nobody has set."""

from pathlib import Path

import pytest

from tests.cli.conftest import SidecallHere

TOOLS = '''
from typing import Annotated

from pydantic import BaseModel, SecretStr

from sidecall import Secret, UserToken, tool


class Args(BaseModel):
    text: str
    key: Annotated[SecretStr, Secret("HIDDEN_KEY")]


@tool
def send(text: str, key: Annotated[str, Secret("SEND_KEY")], again: Annotated[str, Secret("SEND_KEY")]) -> str:
    """Send."""
    return text


@tool
def maybe(text: str, key: Annotated[str | None, Secret("MAYBE_KEY", of="server")] = None) -> str:
    """Maybe send."""
    return text


@tool
def own(text: str, key: Annotated[str, Secret("OWN_KEY", of="caller")]) -> str:
    """Send for a caller."""
    return text


@tool(args_schema=Args)
def hidden(text: str, key: SecretStr) -> str:
    """Send by a model."""
    return text


@tool
def act(text: str, token: Annotated[str, UserToken("hub")]) -> str:
    """Act for a person."""
    return text
'''


@pytest.mark.parametrize(
    ("set_as_variable", "set_as_file", "named"),
    [
        ([], [], ["send SEND_KEY", "maybe MAYBE_KEY", "hidden HIDDEN_KEY"]),
        (["SEND_KEY"], [], ["maybe MAYBE_KEY", "hidden HIDDEN_KEY"]),
        ([], ["SEND_KEY", "MAYBE_KEY"], ["hidden HIDDEN_KEY"]),
        (["HIDDEN_KEY"], ["MAYBE_KEY", "SEND_KEY"], []),
    ],
)
def test_secrets_that_are_not_set_are_named(
    sidecall_here: SidecallHere, here: Path, set_as_variable: list[str], set_as_file: list[str], named: list[str]
) -> None:
    """Once for each tool; those that it can do without are a note, those of callers are theirs."""
    (here / "mine.py").write_text(TOOLS)
    (here / "secrets").mkdir()
    for name in set_as_file:
        (here / "secrets" / name).write_text("s3cret")

    result = sidecall_here(
        *("check", "--tools", "mine.py"),
        SIDECALL_SECRETS_DIR="secrets",
        **dict.fromkeys(set_as_variable, "s3cret"),
    )

    lines = [line.split() for line in result.stdout.splitlines() if "the secret" in line]
    assert [f"{line[1]} {line[5].strip(',')}" for line in lines] == named
    assert [line[0] for line in lines] == ["note" if it.startswith("maybe") else "warning" for it in named]
    assert all(" ".join(line).endswith("is not set, neither as a variable nor as a file in secrets") for line in lines)
    assert "warning act takes a token of hub, which SIDECALL_OAUTH lacks" in result.stdout
    assert (result.returncode, "s3cret" in result.stdout) == (0, False)


TOOL = """
from sidecall import tool


@tool
def find(text: str) -> str:
    \"\"\"Find.

    Args:
        text: What.
    \"\"\"
    return text
"""
SHOP = (
    '{"services": {"shop": {"document": "shop.json", "auth": "${secret:SHOP_TOKEN}"}, "hub": {"document": "hub.json",'
    ' "auth": {"a": "${user_token:hub}", "b": "${secret:HUB}", "c": "${secret:HUB}", "d": "${header:X-Hub}"}},'
    ' "off": {"document": "off.json", "auth": "${secret:OFF}", "disabled": true}}}'
)
SERVER = '{"mcpServers": {"gh": {"url": "https://example.test/mcp", %s}}}'
OF_CALLER = SERVER % '"caller_headers": {"Authorization": "Bearer ${secret:GH}"}'
KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
NO_SERVICES = "which is not set, neither as a variable nor as a file in /run/secrets"


@pytest.mark.parametrize(
    ("variables", "said", "code"),
    [
        (
            {"SIDECALL_OPENAPI_SERVICES": SHOP},
            [
                f"warning SIDECALL_OPENAPI_SERVICES the service 'shop' needs the secret SHOP_TOKEN, {NO_SERVICES}",
                "warning SIDECALL_OPENAPI_SERVICES the service 'hub' takes a token of hub, which SIDECALL_OAUTH lacks",
                f"warning SIDECALL_OPENAPI_SERVICES the service 'hub' needs the secret HUB, {NO_SERVICES}",
            ],
            0,
        ),
        (
            {"SIDECALL_OPENAPI_SERVICES": SHOP, "SHOP_TOKEN": "s3cret", "HUB": "s3cret"},
            ["warning SIDECALL_OPENAPI_SERVICES the service 'hub' takes a token of hub, which SIDECALL_OAUTH lacks"],
            0,
        ),
        (
            {"SIDECALL_OPENAPI_SERVICES": '{"services": {"shop": {"document": "${SHOP}"}}}'},
            [
                "error   SIDECALL_OPENAPI_SERVICES service 'shop' names the variable SHOP, which is not set;"
                " set it, or write ${SHOP:-instead}."
            ],
            1,
        ),
        (
            {"SIDECALL_MCP_SERVERS": OF_CALLER},
            [
                "warning SIDECALL_MCP_SERVERS the server 'gh' needs the secret GH of its caller, who can keep none,"
                " since there is no SIDECALL_SECRETS_KEY"
            ],
            0,
        ),
        ({"SIDECALL_MCP_SERVERS": OF_CALLER, "SIDECALL_SECRETS_KEY": KEY}, [], 0),
        (
            {"SIDECALL_MCP_SERVERS": SERVER % '"headers": {"Authorization": "Bearer ${GH_TOKEN}"}'},
            ["error   SIDECALL_MCP_SERVERS server 'gh' names the variable GH_TOKEN, which is not set"],
            1,
        ),
        (
            {"SIDECALL_MCP_SERVERS": SERVER % '"headers": {"Authorization": "Bearer ${secret:GH}"}'},
            ["error   SIDECALL_MCP_SERVERS server 'gh' is none: "],
            1,
        ),
    ],
)
def test_what_services_and_servers_elsewhere_lack_is_named(
    sidecall_here: SidecallHere, here: Path, variables: dict[str, str], said: list[str], code: int
) -> None:
    """Before a call fails, or the start."""
    (here / "mine.py").write_text(TOOL)

    result = sidecall_here("check", "--tools", "mine.py", **variables)

    lines = [line for line in result.stdout.splitlines() if "SIDECALL_" in line]
    assert [line[: len(one)] for line, one in zip(lines, said, strict=True)] == said
    assert result.returncode == code
