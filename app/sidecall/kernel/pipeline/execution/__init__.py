"""Run the tool: executor, retries, deadline."""
