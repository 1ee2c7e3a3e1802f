"""The process that serves: connections, limits, shutdown, several workers."""
