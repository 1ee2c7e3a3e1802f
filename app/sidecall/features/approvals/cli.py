"""sidecall approvals: the calls of a running server that wait for a person."""

from typing import Annotated, Any, Literal

import typer
from pydantic_core import from_json

from sidecall.features.calls.cli import refuse_misplaced
from sidecall.features.calls.cli_follow import ConversationOption, RequestOption, TraceOption
from sidecall.features.calls.cli_rows import print_approval, print_approvals, print_rules
from sidecall.kernel.json_data.text import read_object
from sidecall.kernel.ports.approvals.approval import ApprovalStatus
from sidecall.terminal.console import print_json
from sidecall.terminal.remote import DEFAULT_URL, AsJson, Url, ask, list_pages, place_of, reach, require, require_id

approvals = typer.Typer(help="Decide about calls that wait for a person; alone it lists them, oldest first.")

# The server lists those in any status where it is asked for none.
AnyStatus = Literal[ApprovalStatus, "all"]
Always = Annotated[bool, typer.Option("--always", help="For all later calls of this tool by this caller, too.")]
ExpiresIn = Annotated[float | None, typer.Option(metavar="SECONDS", help="With --always: for how long.")]
QuestionNumber = Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="Only if it still asks this.")]
Hash = Annotated[
    str | None,
    typer.Option("--hash", metavar="HASH", help="The tool's definition that you have read, if it has changed."),
]
WhichApproval = Annotated[str, typer.Argument(metavar="ID", callback=require_id, help="The approval.")]


@approvals.callback(invoke_without_command=True)
def list_approvals(
    ctx: typer.Context,
    status: Annotated[AnyStatus, typer.Option(help="Those in this status.")] = "pending",
    tool: Annotated[str | None, typer.Option(help="Only calls of this tool.")] = None,
    requested_by: Annotated[str | None, typer.Option(help="Only calls that this caller has sent.")] = None,
    conversation: ConversationOption = None,
    trace_id: TraceOption = None,
    request_id: RequestOption = None,
    limit: Annotated[int, typer.Option(min=1, help="Most approvals that are listed.")] = 100,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Decide about calls that wait for a person; alone it lists them, oldest first."""
    if ctx.invoked_subcommand is not None:
        refuse_misplaced(ctx)
        return
    with reach(url) as client:
        wanted = {"status": None if status == "all" else status, "tool": tool, "requested_by": requested_by}
        wanted |= {"conversation": conversation, "trace_id": trace_id, "request_id": request_id}
        found = list_pages(client, "/approvals", limit, {name: it for name, it in wanted.items() if it is not None})
    if as_json:
        print_json(found)
    else:
        print_approvals(found)


approvals.command("list", help="List calls that wait for a person, as `approvals` alone does.")(list_approvals)


@approvals.command()
def show(approval_id: WhichApproval, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Show one approval: the call, what a person made of it, and its answer once there is one."""
    with reach(url) as client:
        found = ask(client, "GET", place_of("approvals", approval_id))
    if as_json:
        print_json(found)
    else:
        print_approval(found)


@approvals.command()
def approve(
    approval_id: WhichApproval,
    args: Annotated[str | None, typer.Option(metavar="JSON", help="Other arguments to run the call with.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with the approval.")] = None,
    always: Always = False,
    expires_in: ExpiresIn = None,
    question: QuestionNumber = None,
    hash: Hash = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Approve a call, wait until it has run, and print the approval with its answer."""
    rule = {"always": always or None, "expires_in": expires_in, "question": question, "hash": hash}
    _decide(url, approval_id, {"decision": "approve", "args": _read_args(args), "reason": reason, **rule})


@approvals.command()
def reject(
    approval_id: WhichApproval,
    reason: Annotated[str, typer.Option(help="Why; the model reads it.")],
    always: Always = False,
    expires_in: ExpiresIn = None,
    question: QuestionNumber = None,
    hash: Hash = None,
    url: Url = DEFAULT_URL,
) -> None:
    """Reject a call, and print the approval."""
    rule = {"always": always or None, "expires_in": expires_in, "question": question, "hash": hash}
    _decide(url, approval_id, {"decision": "reject", "reason": reason, **rule})


@approvals.command()
def rules(
    limit: Annotated[int, typer.Option(min=1, help="Most rules that are listed.")] = 100,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List the decisions that hold for all later calls of a tool by a caller."""
    with reach(url) as client:
        found = list_pages(client, "/approvals/rules", limit, {})
    if as_json:
        print_json(found)
    else:
        print_rules(found)


@approvals.command()
def revoke(
    rule_id: Annotated[str, typer.Argument(metavar="ID", help="The rule.")],
    url: Url = DEFAULT_URL,
) -> None:
    """Revoke such a decision, so that each call is decided about again."""
    with reach(url) as client:
        require(client.delete(place_of("approvals/rules", rule_id)))


def _decide(url: str, approval_id: str, decision: dict[str, Any]) -> None:
    body = {name: value for name, value in decision.items() if value is not None}
    with reach(url) as client:
        print_json(ask(client, "POST", place_of("approvals", approval_id), json=body))


def _read_args(text: str | None) -> Any:
    try:
        args = None if text is None else read_object(from_json(text, allow_inf_nan=False))
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="--args") from None
    if text is not None and not isinstance(args, dict):
        raise typer.BadParameter('give a JSON object, such as {"a": 1}', param_hint="--args")
    return args
