"""Load tools, toolsets and MCP servers again without a restart."""
