"""Routes for conversations."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic_core import to_json

from sidecall.features.calls.routes import FromCall
from sidecall.features.conversations.story import ConversationStory, ListedConversation, list_page, tell_story
from sidecall.features.server_parts import PartsDep
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import (
    WHOLE_NUMBER,
    CallerDep,
    LateRoute,
    is_readable,
    must_be_of_link,
    refuse_unknown_parameters,
    write_link,
)
from sidecall.kernel.ports.file_errors import UnknownConversation
from sidecall.kernel.ports.workspaces import LONGEST, can_name
from sidecall.rest.openapi import describe_page

router = APIRouter(tags=["conversations"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

# The time of the last call and the conversation.
_CURSOR = r"^[0-9]{1,12}\.[0-9]{1,9}~[^\x00-\x1f\x7f/]{1,256}$"
_LATEST = (1e12, "")
Most = Annotated[int, Query(ge=1, le=1000, description="Most conversations of one page."), WHOLE_NUMBER]
MostCalls = Annotated[int, Query(ge=1, le=1000, description="Most calls of one page."), WHOLE_NUMBER]
FromConversation = Annotated[
    str | None,
    Query(pattern=_CURSOR, description="Where the page begins: from the `Link` of the one before."),
    must_be_of_link(_CURSOR),
]
ConversationId = Annotated[
    str, Path(description="The conversation, as in the header `Sidecall-Conversation`.", max_length=LONGEST)
]


@router.get(
    "/conversations",
    operation_id="list_conversations",
    summary="List conversations",
    response_model=None,
    responses=describe_page(
        list[ListedConversation],
        "A page of conversations, the latest first.",
        _404="This server keeps no history.",
    ),
)
async def list_conversations(
    parts: PartsDep, caller: CallerDep, limit: Most = 100, cursor: FromConversation = None
) -> Response:
    """List the conversations of calls, the one with the latest call first.

    With the scope `calls:read` these are all of your tenant, without it those of your own calls. The header `Link`
    leads to the next page, if there is one.
    """
    last, _, name = ("", "", "") if cursor is None else cursor.partition("~")
    before = (float(last), name) if last else _LATEST
    shown, end = await list_page(parts, caller, limit, before)
    response = Reply(to_json(shown)).to_response()
    if end is not None:
        asked = (("limit", limit), ("cursor", f"{end[0]!r}~{end[1]}"))
        response.headers["Link"] = write_link("/conversations", asked)
    return response


@router.get(
    "/conversations/{conversation_id}",
    operation_id="get_conversation",
    summary="Tell a conversation",
    response_model=None,
    responses=describe_page(
        ConversationStory, "What happened, the oldest first.", _404="There is no such conversation of yours."
    ),
)
async def get_conversation(
    request: Request,
    parts: PartsDep,
    caller: CallerDep,
    conversation_id: ConversationId,
    limit: MostCalls = 100,
    cursor: FromCall = None,
) -> Response:
    """Show the calls of a conversation with the approvals that they waited for and the files that are left.

    A page has its latest calls; the header `Link` leads to a page with the calls before them, and nothing else. With
    the scope `calls:read` you see the calls of your tenant, without it your own; approvals of others take
    `approvals:decide`, and files `tools:call`.
    """
    if not can_name(conversation_id) or not is_readable(request, conversation_id):
        raise UnknownConversation
    story, end = await tell_story(parts, caller, conversation_id, limit, cursor)
    response = Reply(story.model_dump_json(exclude={"calls": {"__all__": {"message"}}}).encode()).to_response()
    if end is not None:
        path = f"/conversations/{quote(conversation_id, safe='')}"
        response.headers["Link"] = write_link(path, (("limit", limit), ("cursor", end)))
    return response
