"""sidecall call: run one tool from the shell."""

import contextlib
import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import from_json, to_json
from uuid_utils import uuid4

from sidecall.composition.local_pipeline import build_pipeline
from sidecall.kernel.concurrency.event_loop import run_main
from sidecall.kernel.core.errors import SEE_LOG, ToolCallFailed
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.json_data.text import read_object
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.review import NOT_REVIEWED, Review
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import Later
from sidecall.settings import Settings
from sidecall.terminal.console import print_json
from sidecall.terminal.options import Toolkits, Tools, load_registry, read_settings

# With which the client of HTTP comes.
_remote = Later("sidecall.terminal.remote")

# There is no server here, and its log has been printed.
_SEE_ABOVE = "The details are above."
_OURS = Path(__file__).parents[1]


def call(
    name: Annotated[str, typer.Argument(help="The tool to run.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="key=value", help="Its arguments.")] = None,
    args: Annotated[str | None, typer.Option("--args", metavar="JSON", help="All arguments as a JSON object.")] = None,
    state: Annotated[str | None, typer.Option(metavar="JSON", help="State for injected parameters.")] = None,
    context: Annotated[str | None, typer.Option(metavar="JSON", help="Values of injected parameters.")] = None,
    call_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The call's id; a new one for each command if not given.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Ask a running server instead of this process.")] = None,
    tools: Tools = None,
    toolkits: Toolkits = None,
) -> None:
    """Run one tool and print its ToolMessage; exit code 1 when its status is error.

    Values are read as JSON where the tool does not want a text: `sidecall call add a=1 b=2`.
    """
    beside = {
        # A server may run a call once for its id, so that two commands share none.
        "id": f"call_{uuid4().hex}" if call_id is None else call_id,
        "state": _read_json("--state", state),
        "context": _read_object("--context", context),
    }
    if url is not None:
        message = _call_remote(url, name, args, arguments or [], beside)
    else:
        message = _call_here(read_settings(tools=tools, toolkits=toolkits), name, args, arguments or [], beside)
    print_json(message)
    raise typer.Exit(0 if message["status"] == "success" else 1)


def _call_here(
    settings: Settings, name: str, args: str | None, pairs: list[str], beside: dict[str, Any]
) -> dict[str, Any]:
    registry = load_registry(settings)
    tool = registry.get(name)
    call = ToolCall(
        name=name, args=_read_arguments(args, pairs, tool.args_schema.flat if tool else {}), id=beside["id"]
    )
    # The person who types this command approves it.
    request = CallRequest(call, state=beside["state"], context=beside["context"] or {}, review=Review(approved=True))
    # What the tool prints must not mix with the answer.
    with contextlib.redirect_stdout(sys.stderr), _showing_failures():
        return run_main(_run(registry, request, settings))


async def _run(registry: Registry, request: CallRequest, settings: Settings) -> dict[str, Any]:
    async with build_pipeline(registry, settings) as pipeline:
        await _report_approval(pipeline, registry, request)
        try:
            answer = to_json(await pipeline.run(request)).decode()
        except ToolCallFailed as failed:
            raise ToolCallFailed(failed.message.replace(SEE_LOG, _SEE_ABOVE), **failed.members) from failed
        message: dict[str, Any] = from_json(answer.replace(SEE_LOG, _SEE_ABOVE))
        return message


async def _report_approval(pipeline: Pipeline, registry: Registry, request: CallRequest) -> None:
    tool = registry.get(request.call.name)
    if tool is None or tool.options.requires_approval is False:
        return
    if (await pipeline.dry_run(request.copy_with(review=NOT_REVIEWED))).requires_approval:
        typer.echo("On a server this call waits for a person's approval; here you gave yours by typing it.", err=True)


class _AuthorsLines(logging.Formatter):
    """Log formatter that keeps only what the author can fix: lines outside of Sidecall."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  the library's name
        """Format the traceback from the first line of the author's code."""
        failure = traceback.TracebackException(*ei)
        lines = [line for line in failure.stack if not Path(line.filename).is_relative_to(_OURS)]
        failure.stack = traceback.StackSummary.from_list(lines)
        return "".join(failure.format(chain=False)).rstrip()


@contextlib.contextmanager
def _showing_failures() -> Iterator[None]:
    handler = logging.StreamHandler()
    handler.setFormatter(_AuthorsLines("%(message)s"))
    logger = logging.getLogger("sidecall")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _call_remote(url: str, name: str, args: str | None, pairs: list[str], beside: dict[str, Any]) -> dict[str, Any]:
    try:
        with _remote.reach(url) as client:
            detail = client.get(_remote.place_of("tools", name))
            schema = detail.json()["args_schema"] if detail.is_success else {}
            body = {"name": name, "args": _read_arguments(args, pairs, schema), **beside}
            response = client.post("/tool_calls", json=body)
            message: dict[str, Any] = response.json()
            if response.is_success and "status" in message:
                return message
            problem: str = _remote.format_problem(response)
    except _remote.NoServer as error:
        typer.echo(f"error: {error.message}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{url} refuses the call: {problem}", err=True)
    raise typer.Exit(2)


def _read_arguments(args: str | None, pairs: list[str], schema: dict[str, Any]) -> dict[str, Any]:
    given = _read_object("--args", args) or {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign:
            hint = "; give a JSON object with --args" if pair.lstrip().startswith("{") else ""
            raise typer.BadParameter(f"{pair!r} is not key=value{hint}", param_hint="key=value")
        given[key] = _read_value(value, schema.get("properties", {}).get(key, {}))
    return given


def _read_value(text: str, schema: dict[str, Any]) -> Any:
    if schema.get("type") == "string":
        return text
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return text


def _read_object(option: str, text: str | None) -> dict[str, Any] | None:
    value = read_object(_read_json(option, text))
    if value is not None and not isinstance(value, dict):
        raise typer.BadParameter('give a JSON object, such as {"a": 1}', param_hint=option)
    return value


def _read_json(option: str, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint=option) from None
