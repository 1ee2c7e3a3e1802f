"""The process that serves: its connections, its end, and its workers."""
