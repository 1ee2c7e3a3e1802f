#!/usr/bin/env bash
# A tool of mcp-go whose author gives no hints says that it changes and destroys things, also where it only reads.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --ignore-scripts --no-audit --no-fund --loglevel=error @negokaz/excel-mcp-server@0.12.0 >/dev/null
{
    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"finding","version":"1"}}}'
    echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
    sleep 5
} | timeout 60 node node_modules/@negokaz/excel-mcp-server/dist/launcher.js >answers 2>/dev/null || true
python3 - <<'PYTHON'
import json
import sys

answers = [json.loads(line) for line in open("answers")]
tools = {tool["name"]: tool for answer in answers if answer.get("id") == 2 for tool in answer["result"]["tools"]}
hints = tools["excel_read_sheet"]["annotations"]
print("@negokaz/excel-mcp-server 0.12.0 excel_read_sheet", json.dumps(hints, sort_keys=True))
sys.exit(hints.get("readOnlyHint") is not False or hints.get("destructiveHint") is not True)
PYTHON
