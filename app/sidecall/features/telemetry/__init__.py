"""Metrics, log lines and spans of calls."""
