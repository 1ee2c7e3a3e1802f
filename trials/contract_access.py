"""Requests about rules, summaries and who calls, and the documented answers that they have to bring about."""

from trials.contract_cases import NAMELESS, Case, list_page_cases

RULES, RULE, SUMMARY = "get /approvals/rules", "delete /approvals/rules/{rule_id}", "get /tool_calls/summary"
RELOAD = "post /reload"
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
WITHOUT_HISTORY = (Case(SUMMARY, 404, "/tool_calls/summary"),)
WITHOUT_ANSWERS = (Case("get /tool_calls/{call_id}/events", 410, "{past}/events"),)
PROVED = (Case(METADATA, 200, _METADATA_PATH),)
