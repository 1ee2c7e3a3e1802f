"""Tools of configured MCP servers, offered as tools of this server."""
