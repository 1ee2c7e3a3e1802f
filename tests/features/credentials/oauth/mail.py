"""Tools that act for a person."""

from typing import Annotated

import httpx

from sidecall import Retry, ToolAnnotations, UserToken, UserTokenRefused, tool

SEEN: list[str] = []


def spell(text: str | None) -> str:
    """Write a token so that it is not masked."""
    return "+".join(text or "none")


@tool
async def list_mail(folder: str, token: Annotated[str, UserToken("hub")]) -> str:
    """List mail.

    Args:
        folder: Which.
    """
    SEEN.append(token)
    return f"{folder} of {token.partition('-')[0]}, with {token}"


@tool(requires_approval=True)
async def send_mail(to: str, token: Annotated[str, UserToken("hub")]) -> str:
    """Send mail.

    Args:
        to: To whom.
    """
    return f"sent to {to} by {token.partition('-')[0]}"


@tool
async def greet(token: Annotated[str | None, UserToken("hub")] = None) -> str:
    """Greet, by name where there is one."""
    return f"Hello {spell(token)}"


@tool(executor="process")
def apart(url: str, token: Annotated[str, UserToken("hub")]) -> str:
    """Ask in a process who it is.

    Args:
        url: Where.
    """
    response = httpx.get(url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    if response.status_code == 401:
        raise UserTokenRefused
    return str(response.json()["account"])


@tool(retry=Retry(wait=0), annotations=ToolAnnotations(idempotent=True))
async def ask(token: Annotated[str, UserToken("hub")], url: str) -> str:
    """Ask who it is.

    Args:
        url: Where.
    """
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.get(url, headers={"Authorization": f"Bearer {token}"})
    if response.status_code == 401:
        raise UserTokenRefused("hub")
    return str(response.json()["account"])


@tool
async def never(token: Annotated[str, UserToken("hub")]) -> str:
    """Be refused, no matter what it shows."""
    raise UserTokenRefused


TOOLS = (list_mail, send_mail, greet, apart, ask, never)
