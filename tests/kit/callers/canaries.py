"""Tools that tell all that they are given, in every way there is to tell it; and what is planted for them."""

import base64
import json
import logging
import os
from typing import Annotated, Any
from urllib.parse import quote

from sidecall import ApprovalRequired, Cache, Secret, ToolContext, ToolException, tool

SERVER = "canary/server+4711&more"
OWN = 'canary"own"\\8152 ä'
ARGUMENT = "canary-argument-2342"
HEADER = "canary-header-9001"
UNRELATED = "canary-unrelated-1234"
Key = Annotated[str, Secret("CANARY_KEY")]
OwnKey = Annotated[str, Secret("OWN_KEY", of="caller")]


def spell_all(*secrets: str) -> dict[str, Any]:
    """Write secrets in every way that tools usually do."""
    return {
        "plain": list(secrets),
        "json": json.dumps(secrets),
        "url": [f"https://x.example/?key={quote(secret, safe='')}" for secret in secrets],
        "basic": [base64.b64encode(f"user:{secret}".encode()).decode() for secret in secrets],
        "inside": [f"Bearer {secret}." for secret in secrets],
        **dict.fromkeys(secrets, "as a name"),
    }


@tool(response_format="content_and_artifact")
async def answer(key: Key, own: OwnKey, password: str = "") -> tuple[str, Any]:
    """Answer with all that it has.

    Args:
        password: A secret of the model's.
    """
    logging.getLogger("elsewhere").warning("asked with %s", key, extra={"headers": {"x": own}})
    return json.dumps(spell_all(key, own)), spell_all(key, own)


@tool
async def fail(key: Key, own: OwnKey, context: ToolContext) -> str:
    """Fail with all that it has."""
    context.log.error("about to fail with %s", own)
    try:
        raise KeyError(own)
    except KeyError as error:
        raise ValueError(f"no answer for {key}: {spell_all(key, own)}") from error


@tool
async def complain(key: Key, own: OwnKey) -> str:
    """Tell the model all that it has."""
    raise ToolException(f"refused {key} and {own}: {spell_all(key, own)}")


@tool(handle_tool_error=None)
async def reraise(key: Key, own: OwnKey) -> str:
    """Tell the program all that it has."""
    raise ToolException(f"refused {key} and {own}: {spell_all(key, own)}")


@tool
async def question(key: Key, own: OwnKey) -> str:
    """Ask a person with all that it has."""
    raise ApprovalRequired(f"May I use {key}?", preview=spell_all(key, own), payload=spell_all(key, own))


@tool
async def stream(key: Key, own: OwnKey, context: ToolContext) -> Any:
    """Say it in pieces."""
    await context.progress(1, 2, f"with {key} and {own}")
    for sign in f"first {key} then {own} done":
        yield sign


@tool(executor="process")
def apart(key: Key, own: OwnKey, context: ToolContext) -> Any:
    """Answer from a process."""
    context.log.warning("in a process with %s", key)
    return spell_all(key, own)


@tool(executor="process")
def look_around() -> dict[str, str]:
    """Return the environment of a tool's process."""
    return dict(os.environ)


@tool(cache=Cache(ttl=60), annotations={"read_only": True, "idempotent": True})
async def keep(key: Key, own: OwnKey) -> Any:
    """Answer twice."""
    return spell_all(key, own)


TOOLS = (answer, fail, complain, reraise, question, stream, apart, look_around, keep)
