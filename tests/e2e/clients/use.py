"""Use the client that openapi-python-client makes: this must type-check, and print what is expected."""

import io
import json
import os

from sidecall_client import Client
from sidecall_client.api.approvals import decide_approval, get_approval, list_approvals
from sidecall_client.api.file_search import (
    create_file,
    create_vector_store,
    create_vector_store_file,
    list_files,
    search_vector_store,
)
from sidecall_client.api.tool_calls import create_tool_call, create_tool_call_batch
from sidecall_client.api.tools import get_tool, list_tools
from sidecall_client.models import (
    AnthropicToolResult,
    AnthropicToolUse,
    AnthropicToolUseInputType1,
    Approval,
    ApprovalDecision,
    ApprovalDecisionDecision,
    Batch,
    CreateFileBody,
    CreateFileBodyPurpose,
    DryRun,
    GeminiFunctionCall,
    GeminiFunctionCallArgsType1,
    GeminiFunctionCallPart,
    GeminiFunctionResponsePart,
    LangChainToolCall,
    LangChainToolCallArgsType1,
    ListApprovalsStatusType0,
    ListToolsFormat,
    NewVectorStore,
    NewVectorStoreFile,
    OpenAIFunction,
    OpenAIToolCall,
    OpenAIToolMessage,
    Problem,
    ResponsesFunctionCall,
    ResponsesFunctionCallOutput,
    ToolDetail,
    ToolMessage,
    UploadedFile,
    UploadedFileListing,
    VectorStore,
    VectorStoreFile,
    VectorStoreSearch,
    VectorStoreSearchResults,
)
from sidecall_client.types import File

client = Client(os.environ["SIDECALL_URL"], timeout=None)
args = {"expression": "6 * 7"}
text = json.dumps(args)

plain = LangChainToolCall("calculator", LangChainToolCallArgsType1.from_dict(args), id="1")
anthropic = AnthropicToolUse("tool_use", "calculator", AnthropicToolUseInputType1.from_dict(args), id="4")
calls: list[AnthropicToolUse | GeminiFunctionCallPart | LangChainToolCall | OpenAIToolCall | ResponsesFunctionCall] = [
    plain,
    OpenAIToolCall(OpenAIFunction("calculator", text), id="2"),
    ResponsesFunctionCall("function_call", "calculator", text, call_id="3"),
    anthropic,
    GeminiFunctionCallPart(GeminiFunctionCall("calculator", GeminiFunctionCallArgsType1.from_dict(args), id="5")),
]


def say(*words: object) -> None:
    """Print a line of JSON."""
    print(json.dumps(words))


for call in calls:
    answer = create_tool_call.sync(client=client, body=call)
    if isinstance(answer, ToolMessage):
        say(answer.type_, answer.status, answer.name, answer.content)
    elif isinstance(answer, OpenAIToolMessage):
        say(answer.role, answer.tool_call_id, answer.content)
    elif isinstance(answer, ResponsesFunctionCallOutput):
        say(answer.type_, answer.call_id, answer.output)
    elif isinstance(answer, AnthropicToolResult):
        say(answer.type_, answer.tool_use_id, answer.content, answer.is_error)
    elif isinstance(answer, GeminiFunctionResponsePart):
        say("gemini", answer.function_response.id, answer.function_response.response.to_dict())

order = LangChainToolCall("delete_order", LangChainToolCallArgsType1.from_dict({"order": 7}))
dry = create_tool_call.sync(client=client, body=order, dry_run=True)
if isinstance(dry, DryRun):
    say("dry run", dry.would_run, dry.requires_approval)

turn = create_tool_call_batch.sync(client=client, body=[plain, anthropic])
shared = create_tool_call_batch.sync(client=client, body=Batch([plain, anthropic], state={"user": "ada"}))
say("batch", *[type(it).__name__ for answers in (turn, shared) if isinstance(answers, list) for it in answers])

wrong = create_tool_call.sync(client=client, body=plain, timeout=-1)
if isinstance(wrong, Problem):
    say(wrong.type_, wrong.status)

asked = create_tool_call.sync(client=client, body=order)
if isinstance(asked, Approval):
    say(asked.status, asked.tool_call.name, asked.message)
    listed = list_approvals.sync(client=client, status=ListApprovalsStatusType0.PENDING)
    say("waiting", len(listed) if isinstance(listed, list) else listed)
    decision = ApprovalDecision(ApprovalDecisionDecision.REJECT, reason="Not that one.")
    decided = decide_approval.sync(asked.id, client=client, body=decision)
    later = get_approval.sync(asked.id, client=client)
    for approval in (decided, later):
        if not isinstance(approval, Problem) and approval and isinstance(approval.message, ToolMessage):
            say(approval.status, approval.message.status, approval.message.content)

definitions = list_tools.sync(client=client, format_=ListToolsFormat.ANTHROPIC, name=["calculator"])
say([it["name"] for it in definitions] if isinstance(definitions, list) else definitions)
detail = get_tool.sync("delete_order", client=client)
say(detail.requires_approval if isinstance(detail, ToolDetail) else detail)

text_file = File(io.BytesIO(b"Herons fish in shallow water."), "herons.txt", "text/plain")
sent = create_file.sync(client=client, body=CreateFileBody(text_file, CreateFileBodyPurpose.USER_DATA))
store = create_vector_store.sync(client=client, body=NewVectorStore("birds"))
if isinstance(sent, UploadedFile) and isinstance(store, VectorStore):
    added = create_vector_store_file.sync(store.id, client=client, body=NewVectorStoreFile(sent.id))
    found = search_vector_store.sync(store.id, client=client, body=VectorStoreSearch("who fishes?"))
    files = list_files.sync(client=client)
    if isinstance(added, VectorStoreFile) and isinstance(found, VectorStoreSearchResults):
        say(added.status, *[(it.filename, it.content[0].text) for it in found.data])
    say(len(files.data) if isinstance(files, UploadedFileListing) else files)
