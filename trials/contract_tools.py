"""Requests that find tools, run them as operations, and are about persons' tokens."""

from trials.contract_cases import CALLS, Case, list_post_cases, list_read_cases, write_tool_call

_SEARCH, _DOCUMENT, _RUN = "get /tools/search", "get /openapi/tools.json", "post /tools/{name}/call"
_TOKENS, _FORGET = "get /oauth/tokens", "delete /oauth/tokens/{provider}"
_RIGHT = {"one": "first"}
_DRIFTED = {"if-match": '"000000000000"'}

TOOL_CASES = (
    Case(CALLS, 409, "/tool_calls", write_tool_call("choose", one="first"), _DRIFTED),
    Case(_SEARCH, 200, "/tools/search?q=rows"),
    Case(_SEARCH, 404, "/tools/search?q=rows&toolset=none"),
    Case(_SEARCH, 422, "/tools/search?q=rows&limit=0"),
    *list_read_cases(_SEARCH, "/tools/search?q=rows"),
    Case(_DOCUMENT, 200, "/openapi/tools.json"),
    Case(_DOCUMENT, 304, "/openapi/tools.json", headers={"if-none-match": "*"}),
    Case(_DOCUMENT, 404, "/openapi/tools.json?toolset=none"),
    Case(_DOCUMENT, 422, "/openapi/tools.json?for=nobody"),
    *list_read_cases(_DOCUMENT, "/openapi/tools.json"),
    Case(_RUN, 200, "/tools/choose/call", _RIGHT),
    Case(_RUN, 202, "/tools/approved/call", {"amount": 9}),
    Case(_RUN, 403, "/tools/forbidden/call", {}),
    Case(_RUN, 404, "/tools/none/call", {}),
    Case(_RUN, 409, "/tools/choose/call", _RIGHT, _DRIFTED),
    Case(_RUN, 422, "/tools/choose/call", {"one": "third"}),
    Case(_RUN, 500, "/tools/fail_through/call", {}),
    Case(_RUN, 504, "/tools/waiting/call?timeout=0.05", {"seconds": 20}),
    *list_post_cases(_RUN, "/tools/choose/call", _RIGHT),
    Case(_TOKENS, 200, "/oauth/tokens"),
    *list_read_cases(_TOKENS, "/oauth/tokens"),
    Case(_FORGET, 404, "/oauth/tokens/none"),
    Case(_FORGET, 422, "/oauth/tokens/a.b"),
    *list_read_cases(_FORGET, "/oauth/tokens/none"),
)
RUN_BUSY = (Case(_RUN, 429, "/tools/kept/call", {}),)
RUN_FULL = (Case(_RUN, 503, "/tools/kept/call", {}),)
# They need a person who has signed in at a provider: tests/features/credentials/oauth has both. The last needs an MCP
# server whose tools change: tests/features/mcp_client has it.
ELSEWHERE = {(_FORGET, 200), (_FORGET, 503), ("post /mcp-servers/{name}/accept", 200)}
