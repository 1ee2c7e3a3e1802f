"""How MCP servers are spoken to: by the official client, which is loaded when there is one to speak to."""
