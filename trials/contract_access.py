"""Requests about rules, summaries, conversations and who calls, and the answers that they have to bring about."""

from trials.contract_cases import CALLS, NAMELESS, Case, list_page_cases, list_post_cases, write_tool_call

RULES, RULE, SUMMARY = "get /approvals/rules", "delete /approvals/rules/{rule_id}", "get /tool_calls/summary"
RELOAD = "post /reload"
CONVERSATIONS, CONVERSATION = "get /conversations", "get /conversations/{conversation_id}"
STATUS, WHOAMI, METADATA = "get /status", "get /whoami", "get /.well-known/oauth-protected-resource"
_METADATA_PATH = "/.well-known/oauth-protected-resource"
ACCESS: tuple[Case, ...] = (
    Case("get /tools", 404, "/tools?toolset=none"),
    Case(RULES, 200, "/approvals/rules"),
    Case(RULES, 400, "/approvals/rules", headers=NAMELESS),
    Case(RULES, 422, "/approvals/rules?limit=0"),
    *list_page_cases(RULES, "/approvals/rules"),
    Case(RULE, 400, "{rule}", headers=NAMELESS),
    *list_page_cases(RULE, "{rule}"),
    Case(RULE, 204, "{rule}"),
    Case(RULE, 404, "{rule}"),
    Case(SUMMARY, 200, "/tool_calls/summary?by=name"),
    Case(SUMMARY, 400, "/tool_calls/summary", headers=NAMELESS),
    Case(SUMMARY, 422, "/tool_calls/summary?by=mood"),
    *list_page_cases(SUMMARY, "/tool_calls/summary"),
    Case(CONVERSATIONS, 200, "/conversations"),
    Case(CONVERSATIONS, 400, "/conversations", headers=NAMELESS),
    Case(CONVERSATIONS, 422, "/conversations?limit=0"),
    *list_page_cases(CONVERSATIONS, "/conversations"),
    Case(CALLS, 200, "/tool_calls", write_tool_call("choose", one="first"), {"sidecall-conversation": "chat-7"}),
    Case(CONVERSATION, 200, "/conversations/chat-7"),
    Case(CONVERSATION, 400, "/conversations/chat-7", headers=NAMELESS),
    Case(CONVERSATION, 404, "/conversations/none"),
    Case(CONVERSATION, 422, "/conversations/chat-7?limit=0"),
    *list_page_cases(CONVERSATION, "/conversations/chat-7"),
    Case(STATUS, 200, "/status"),
    Case(STATUS, 400, "/status", headers=NAMELESS),
    *list_page_cases(STATUS, "/status"),
    Case(RELOAD, 400, "/reload", headers=NAMELESS),
    *list_page_cases(RELOAD, "/reload"),
    Case(WHOAMI, 200, "/whoami"),
    Case(WHOAMI, 400, "/whoami", headers=NAMELESS),
    *list_page_cases(WHOAMI, "/whoami"),
    Case(METADATA, 404, _METADATA_PATH),
    *list_page_cases(METADATA, _METADATA_PATH),
)
# Before a file of tools is broken, and after it.
WHOLE, BROKEN_FILE = Case(RELOAD, 200, "/reload"), Case(RELOAD, 409, "/reload")
# Where there is no history, where it has no answers, and where callers have to prove who they are.
WITHOUT_HISTORY = (Case(SUMMARY, 404, "/tool_calls/summary"), Case(CONVERSATIONS, 404, "/conversations"))
WITHOUT_ANSWERS = (Case("get /tool_calls/{call_id}/events", 410, "{past}/events"),)
PROVED = (Case(METADATA, 200, _METADATA_PATH),)
# Of a server with an MCP server that does not start; then, where the file of what was accepted is none.
_SERVERS, ACCEPT, _PATH = "get /mcp-servers", "post /mcp-servers/{name}/accept", "/mcp-servers/gone/accept"
MCP_SERVERS = (
    Case(_SERVERS, 200, "/mcp-servers"),
    Case(_SERVERS, 400, "/mcp-servers", headers=NAMELESS),
    *list_page_cases(_SERVERS, "/mcp-servers"),
    Case(ACCEPT, 400, _PATH, headers=NAMELESS),
    Case(ACCEPT, 404, "/mcp-servers/none/accept", {}),
    Case(ACCEPT, 409, _PATH, {}),
    Case(ACCEPT, 422, _PATH, {"tools": 1}),
    *list_post_cases(ACCEPT, _PATH, {}),
)
WITHOUT_PINS = (Case(_SERVERS, 503, "/mcp-servers"), Case(ACCEPT, 503, _PATH, {}))
