"""sidecall agent: talk to a remote agent, as a tool made by `remote_agent` does."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import typer

from sidecall.features.remote_agents.agent import LATE, RemoteAgent
from sidecall.features.remote_agents.chat import AgentAnswer, AgentTurn
from sidecall.kernel.core.errors import SidecallError, ToolException
from sidecall.terminal.console import print_json


class NoAgentSecret(SidecallError):
    """The variable that `--auth` names is not set."""


def agent(
    url: Annotated[str, typer.Argument(help="Where the agent is.")],
    text: Annotated[str, typer.Argument(help="What to ask it.")],
    dialect: Annotated[Literal["auto", "chat", "responses", "a2a"], typer.Option(help="What it speaks.")] = "auto",
    auth: Annotated[str | None, typer.Option(metavar="NAME", help="Environment variable with its token.")] = None,
    context_id: Annotated[str | None, typer.Option(metavar="ID", help="Of an earlier answer, to go on.")] = None,
    model: Annotated[str | None, typer.Option(help="Which of its models it is to take.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that each turn may take.")] = 600.0,
    stream: Annotated[bool, typer.Option(help="Whether answers come as events.")] = True,
) -> None:
    """Ask an agent elsewhere, and print its answer; what it asks a person it asks here.

    Its progress goes to stderr. The exit code is 1 when it cannot answer.
    """
    headers = {} if auth is None else {"Authorization": f"Bearer {_read_token(auth)}"}
    there = RemoteAgent(url, dialect, model, timeout, stream)
    try:
        answer = asyncio.run(_talk(there, AgentTurn(text, context_id), headers))
    except (ToolException, TimeoutError) as error:
        typer.echo(error.message if isinstance(error, ToolException) else LATE, err=True)
        raise typer.Exit(1) from None
    print_json(_show(answer))


async def _talk(there: RemoteAgent, turn: AgentTurn, headers: Mapping[str, str]) -> AgentAnswer:
    while True:
        answer = await asyncio.wait_for(
            there.ask(turn, headers, lambda said: print(said, file=sys.stderr)),  # noqa: T201  it is progress
            there.timeout,
        )
        asked = answer.question
        if asked is None:
            return answer
        turn = replace(turn, resumed=asked.state, **await asyncio.to_thread(_decide, asked.text, asked.shown))


def _decide(text: str, shown: Any) -> dict[str, Any]:
    typer.echo(f"The agent asks: {text}", err=True)
    if shown is not None:
        print_json(shown, to_err=True)
    is_approved = typer.confirm("Answer or approve (y), or reject (n)?", default=False, err=True)
    wanted = 'Your answer, or Enter for "Approved."' if is_approved else "Why not, or Enter to say nothing"
    reply = typer.prompt(wanted, default="", show_default=False, err=True)
    return {"is_approved": is_approved, "reply": reply or None}


def _read_token(name: str) -> str:
    token = os.environ.get(name)
    if not token:
        raise NoAgentSecret(f"There is no environment variable {name}.")
    return token


def _show(answer: AgentAnswer) -> dict[str, Any]:
    shown: dict[str, Any] = {"text": answer.text, "context_id": answer.context_id, "task_id": answer.task_id}
    usage = answer.usage
    if usage is not None:
        shown["usage"] = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {**shown, "parts": list(answer.parts), **answer.told}
