"""One request of each route, with the scope that it takes; None where it takes none."""

NO_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
REQUESTS = [
    ("GET", "/tools", None),
    ("GET", "/tools/who", None),
    ("GET", "/whoami", None),
    ("POST", "/tool_calls", "tools:call"),
    ("POST", "/tool_calls/batch", "tools:call"),
    ("GET", "/tool_calls", "calls:read"),
    ("GET", "/tool_calls/export", "calls:read"),
    ("GET", "/tool_calls/summary", "calls:read"),
    ("GET", f"/tool_calls/{NO_ID}", None),
    ("GET", f"/tool_calls/{NO_ID}/events", None),
    ("POST", f"/tool_calls/{NO_ID}/cancel", None),
    ("POST", f"/tool_calls/{NO_ID}/replay", "tools:call"),
    ("POST", "/contents", "tools:call"),
    ("GET", "/contents/none", "tools:call"),
    ("DELETE", "/contents/none", "tools:call"),
    ("GET", "/approvals", "approvals:decide"),
    ("GET", "/approvals/rules", "approvals:decide"),
    ("DELETE", "/approvals/rules/none", "approvals:decide"),
    ("GET", "/approvals/none", None),
    ("POST", "/approvals/none", "approvals:decide"),
    ("GET", "/metrics", "server:operate"),
    ("GET", "/status", "server:operate"),
]
