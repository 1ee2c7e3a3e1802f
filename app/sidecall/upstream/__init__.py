"""Tools of MCP servers elsewhere, offered beside our own."""
