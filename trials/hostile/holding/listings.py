"""Lists of tools, documents and states of the server, with 5,000 tools."""

from trials.hostile.holding.case import Case, ask_over_mcp, call, get, send_batch

_NAMES = "&".join(f"name=service_{number}_list_items" for number in range(900))
_TAGS = "&".join(f"tag=tag_{number}" for number in range(2000))

CASES = [
    Case("GET /openapi.json, first", "all routes", get("/openapi.json")),
    Case("GET /openapi/tools.json, first", "5,000 tools", get("/openapi/tools.json")),
    Case("the same, without references", "5,000 tools", get("/openapi/tools.json?refs=false")),
    Case("the same, for GPT Actions", "5,000 tools", get("/openapi/tools.json?for=gpt-actions")),
    Case("GET /tools, strict", "5,000 tools", get("/tools?strict=true")),
    Case("GET /tools, for Gemini", "5,000 tools", get("/tools?format=gemini")),
    Case("GET /tools, strict for Anthropic", "5,000 tools", get("/tools?format=anthropic&strict=true")),
    Case("GET /tools, deferred", "5,000 tools", get("/tools?format=anthropic&search=bm25")),
    Case("GET /tools, one page", "1,000 tools", get("/tools?limit=1000&format=openai-responses")),
    Case("GET /tools, by names", "900 names, 28 KB", get(f"/tools?{_NAMES}")),
    Case("GET /tools, by tags that there are not", "2,000 tags, 25 KB", get(f"/tools?{_TAGS}")),
    Case("GET /openapi/tools.json, by names", "900 names, 28 KB", get(f"/openapi/tools.json?{_NAMES}")),
    Case("GET /tools/search by words", "5,000 tools, 100 found", get("/tools/search?q=items+labels&limit=100")),
    Case("GET /tools/search by words that there are not", "200 characters", get(f"/tools/search?q={'ab+' * 66}")),
    Case("GET /tools/search by a pattern", "200 characters", get(f"/tools/search?mode=regex&q={'(a|b)*' * 33}")),
    Case("GET /tools/{name} that there is not", "16,000 characters", get(f"/tools/{'service_list_' * 1230}")),
    Case("a call of a tool that there is not", "5,000 names", call("servce_17_lst_items", {})),
    Case(
        "the same in a batch",
        "128 names",
        send_batch([{"name": f"servce_{it}_lst_items", "args": {}} for it in range(128)]),
    ),
    Case("the same, by a long name", "4 MB", call("service_list_items_" * 220_000, {})),
    Case("tools/list over MCP", "a page of 250", ask_over_mcp("tools/list")),
    Case("tools/list over MCP, with a wrong cursor", "4 MB", ask_over_mcp("tools/list", cursor="x" * 4_100_000)),
    Case("GET /metrics", "5,000 tools", get("/metrics")),
    Case("GET /status", "5,000 tools", get("/status")),
    Case("GET /readyz", "5,000 tools", get("/readyz")),
]
