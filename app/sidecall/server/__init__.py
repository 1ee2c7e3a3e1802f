"""The server process: connections, limits, shutdown, workers."""
