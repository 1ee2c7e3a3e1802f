"""Connections by the official MCP client, which is loaded when a server is configured."""
