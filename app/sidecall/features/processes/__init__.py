"""Run tools in separate processes."""
