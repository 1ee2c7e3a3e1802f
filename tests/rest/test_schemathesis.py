"""What the server does is what its OpenAPI document says, for anything that Schemathesis makes of the document."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from sidecall import Registry, ToolCall, ToolException, tool
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.main import create_app
from sidecall.settings import Settings


@tool(tags=["math"])
async def calculator(expression: str) -> str:
    """Evaluate an arithmetic expression.

    Args:
        expression: What to calculate.
    """
    if expression.startswith("1 /"):
        raise ToolException("division by zero")
    return expression


@tool(response_format="content_and_artifact")
async def current_time(timezone: str = "UTC", options: Any = None) -> tuple[str, Any]:
    """Tell the time.

    Args:
        timezone: Where.
        options: Given back as the artifact.
    """
    return f"noon in {timezone}", options


@tool(requires_approval=True)
async def delete_order(order: int) -> str:
    """Delete an order.

    Args:
        order: Its number.
    """
    return f"Deleted order {order}."


FILES = tempfile.TemporaryDirectory()
SEARCHED = Settings(workspace_dir=FILES.name, toolkits=("file_search",))
app = create_app(SEARCHED, Registry([calculator, current_time, delete_order]))
schema = schemathesis.openapi.from_asgi("/openapi.json", app, timeout=120)


@asynccontextmanager
async def _stay_open(_: Any) -> AsyncIterator[None]:
    """Begin and end nothing, so that what waits is there for the next request: each is sent with a lifespan."""
    yield


asked = create_app(SEARCHED, Registry([delete_order]))
asked.router.lifespan_context = _stay_open
asked_schema = schemathesis.openapi.from_asgi("/openapi.json", asked, timeout=120)

# The same cases in every run: what fails here fails for everybody. The trials try more, and others.
reproducible = settings(max_examples=20, derandomize=True, database=None, deadline=None)
# Their filters may come several times.
_LISTS = ["list_tool_calls", "export_tool_calls", "get_tools_document"]
# A body may be anything, a path may lead elsewhere, `ignore_case` goes with `grep`, and how long a workspace may stay
# is for the operator to say: all that the document cannot.
_CONTENTS = ["create_content", "get_content", "create_workspace_file", "update_workspace"]
# A form, and sizes of which one is half of the other at most: the document cannot say that either.
_FILES = ["create_file", "create_vector_store", "create_vector_store_file"]
# A cursor goes with a limit, a search with some forms, and what is a regular expression no document says.
_TOOLS = ["list_tools", "search_tools"]
# Which arguments are right is for each tool to say, and one that does not answer in time has a status of its own.
_RUN = ["call_tool"]
# No argument may stand beside the name of a call, where it would be lost: the document has no words for that.
_CALLS = ["create_tool_call", "create_tool_call_batch"]


@schema.exclude(operation_id=[*_LISTS, *_CONTENTS, *_FILES, *_TOOLS, *_RUN, *_CALLS]).parametrize()
@reproducible
def test_every_operation_does_what_the_document_says(case: Case) -> None:
    """No crash, no undocumented status or header or type, no body beside its schema, no wrong request accepted."""
    case.body = _drop_callbacks(case.body)

    case.call_and_validate()


@schema.include(operation_id=_CALLS).parametrize()
@reproducible
def test_calls_do_what_the_document_says(case: Case) -> None:
    """All but that each body which it allows is taken."""
    case.body = _drop_callbacks(case.body)

    case.call_and_validate(excluded_checks=[positive_data_acceptance])


def _drop_callbacks(body: Any) -> Any:
    """Leave out who wants to hear of a call's end: which hosts may be told is for the operator to say."""
    if isinstance(body, list):
        return list(map(_drop_callbacks, body))
    if not isinstance(body, dict):
        return body
    if "calls" in body:
        body = {**body, "calls": _drop_callbacks(body["calls"])}
    is_text = isinstance(body.get("callback_url"), str)
    return {name: value for name, value in body.items() if name != "callback_url"} if is_text else body


@schema.hook
def map_headers(_context: object, headers: Any) -> Any:
    """Send no key, under which another case may have been known before, and wait shorter than the client does."""
    if not headers:
        return headers
    sent = {name: value for name, value in headers.items() if name != "Idempotency-Key"}
    return sent | ({"Prefer": "wait=1"} if sent.get("Prefer") == "wait=10" else {})


# Left out: a query has no types, so a single `tag=0.5` that is meant to be a wrong number is a right list of texts.
@schema.include(operation_id=_LISTS).parametrize()
@reproducible
def test_the_listing_does_what_the_document_says(case: Case) -> None:
    """All but one of the checks hold for its filters too."""
    case.call_and_validate(excluded_checks=[negative_data_rejection])


@schema.include(operation_id=[*_CONTENTS, *_FILES, *_TOOLS]).parametrize()
@reproducible
def test_contents_and_tools_do_what_the_document_says(case: Case) -> None:
    """All but what it cannot say of a body and of two parameters together; who gives no time is told so."""
    response = case.call()

    crash = [not_a_server_error] if response.status_code == 503 and "timeout" in (case.query or {}) else []
    case.validate_response(response, excluded_checks=[*crash, negative_data_rejection, positive_data_acceptance])


@schema.include(operation_id=_RUN).parametrize()
@reproducible
def test_a_tool_as_an_operation_does_what_the_document_says(case: Case) -> None:
    """Also where its deadline is over at once."""
    response = case.call()

    crash = [not_a_server_error] if response.status_code == 504 else []
    case.validate_response(response, excluded_checks=[*crash, positive_data_acceptance, negative_data_rejection])


def _waiting() -> str:
    asyncio.run(_revoke_rules())
    call = ToolCall(name="delete_order", args={"order": 7}, id="")  # Which makes each a new one.
    with pytest.raises(ApprovalRequired) as caught:
        asyncio.run(asked.state.parts.pipeline.run(CallRequest(call)))
    return caught.value.approval.id


async def _revoke_rules() -> None:
    """Let no decision of a case before hold for the next."""
    rules = asked.state.parts.rules
    for rule in (await rules.list("default")).rules:
        await rules.remove(rule.id, "default")


# Left out: arguments that are right in general may still be wrong for this tool, which the person is told with 422.
@asked_schema.include(path="/approvals/{approval_id}").parametrize()
@reproducible
def test_what_waits_does_what_the_document_says(case: Case) -> None:
    """The routes of an approval are tried on one that there is."""
    case.path_parameters["approval_id"] = _waiting()

    case.call_and_validate(excluded_checks=[positive_data_acceptance])
