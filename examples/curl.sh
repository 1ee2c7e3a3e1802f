#!/usr/bin/env bash
# What an agent asks of Sidecall, by hand: list, call in each dialect, fail, batch, list again only after a change.
set -euo pipefail

SIDECALL_URL=${SIDECALL_URL:-http://127.0.0.1:8000}

title() { printf '\n# %s\n' "$1"; }

# Usage: ask PATH [JSON]
ask() {
  local answer
  answer=$(curl -sS "$SIDECALL_URL$1" ${2:+-H 'Content-Type: application/json' -d "$2"})
  python3 -m json.tool --no-ensure-ascii <<<"$answer"
}

title 'List a tool as OpenAI wants it (leave out name= for all; add format=anthropic, gemini, mcp, ... for others)'
ask '/tools?name=calculator'

title 'Call it as LangChain does'
ask /tool_calls '{
  "name": "calculator", "args": {"expression": "(9 * 9 - 2 * 2) / 7"}, "id": "call_1", "type": "tool_call"
}'

title 'As models do in the Chat Completions API of OpenAI'
ask /tool_calls '{
  "id": "call_2", "type": "function", "function": {"name": "calculator", "arguments": "{\"expression\": \"6 * 7\"}"}
}'

title 'As they do in the Responses API'
ask /tool_calls '{
  "type": "function_call", "call_id": "call_3", "name": "calculator", "arguments": "{\"expression\": \"2 ** 10\"}"
}'

title 'As they do in the Messages API of Anthropic'
ask /tool_calls '{"type": "tool_use", "id": "toolu_4", "name": "calculator", "input": {"expression": "sqrt(2)"}}'

title 'A call that fails is answered with 200 and says why to the model, here that an argument is misspelt'
ask /tool_calls '{"name": "calculator", "args": {"expresion": "6 * 7"}, "id": "call_5", "type": "tool_call"}'

title 'A request that is no call is answered with 422 and says why to you'
ask /tool_calls '{"tool": "calculator"}'

title 'The calls of one turn run side by side and are answered in order; one that fails harms no other'
ask /tool_calls/batch '[
  {"id": "call_6", "type": "function", "function": {"name": "calculator", "arguments": "{\"expression\": \"1 / 0\"}"}},
  {"id": "call_7", "type": "function", "function": {"name": "current_time", "arguments": "{\"timezone\": \"Japan\"}"}}
]'

title 'List again, only if something has changed'
etag=$(curl -sS -o /dev/null -D - "$SIDECALL_URL/tools" | tr -d '\r' | sed -n 's/^[Ee][Tt][Aa][Gg]: //p')
curl -sS -o /dev/null -w "If-None-Match: $etag is answered with %{http_code}\n" \
  -H "If-None-Match: $etag" "$SIDECALL_URL/tools"
