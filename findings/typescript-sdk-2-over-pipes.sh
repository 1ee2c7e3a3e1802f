#!/usr/bin/env bash
# A server on the TypeScript SDK 2.0, which knows the revision of 2026-07-28, speaks only earlier ones over its pipes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --ignore-scripts --no-audit --no-fund --loglevel=error @modelcontextprotocol/server-budget-allocator@2.0.3 >/dev/null
beside='{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"finding","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'
{
    echo '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":'"$beside"'}}'
    echo '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"finding","version":"1"}}}'
    sleep 5
} | timeout 60 node node_modules/@modelcontextprotocol/server-budget-allocator/dist/index.js --stdio >answers 2>/dev/null || true
python3 - <<'PYTHON'
import json
import sys
from pathlib import Path

package = Path("node_modules/@modelcontextprotocol/server")
known = any("2026-07-28" in file.read_text() for file in (package / "dist").glob("*.mjs"))
answers = {answer["id"]: answer for answer in map(json.loads, open("answers"))}
code = answers[1].get("error", {}).get("code")
agreed = answers[2].get("result", {}).get("protocolVersion")
version = json.loads((package / "package.json").read_text())["version"]
print("@modelcontextprotocol/server", version, "knows 2026-07-28:", known, "server/discover:", code, "initialize:", agreed)
sys.exit(not known or code != -32601 or agreed == "2026-07-28")
PYTHON
