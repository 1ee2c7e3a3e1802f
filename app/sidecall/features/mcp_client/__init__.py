"""The tools of MCP servers that an operator names, offered as tools of this server."""
