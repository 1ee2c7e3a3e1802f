"""Nothing has to be set."""

from pathlib import Path

from sidecall.settings import Settings

DEFAULTS = {
    "host": "127.0.0.1",
    "port": 8000,
    "tools": ("tools",),
    "entry_points": True,
    "workers": 1,
    "reload": False,
    "mcp": True,
    "threads": 32,
    "processes": 4,
    "memory_limit_mb": 1024,
    "tool_timeout": 30.0,
    "secrets_dir": Path("/run/secrets"),
    "store": None,
    "max_body_bytes": 4194304,
    "max_body_bytes_in_flight": 33554432,
    "max_json_values": 50000,
    "max_concurrency": 10000,
    "max_concurrency_per_caller": None,
    "hosts": (),
    "origins": (),
    "caller_header": None,
    "rate_limit": None,
    "max_running_jobs": 100,
    "max_queued_jobs": 10000,
    "max_wait": 60.0,
    "idempotency_ttl": 86400.0,
    "webhook_hosts": (),
    "webhook_secret": None,
    "max_queue": 1000,
    "queue_timeout": 10.0,
    "max_content_bytes": 1000000,
    "artifact_ttl": 3600.0,
    "max_artifact_bytes": 33554432,
    "max_result_bytes": 16777216,
    "approval_ttl": 3600.0,
    "max_approvals": 1000,
    "max_waiting_bytes": 33554432,
    "max_store_bytes": 16777216,
    "max_item_bytes": 1048576,
    "max_cache_bytes": 16777216,
    "max_cache_entries": 10000,
    "max_unread_bytes": 33554432,
    "max_batch": 128,
    "max_connections": 16384,
    "header_timeout": 10.0,
    "body_timeout": 30.0,
    "drain_grace": 2.0,
    "drain_timeout": 30.0,
    "stuck_after": 2.0,
    "log_level": "info",
    "log_format": "auto",
    "log_calls": False,
    "log_args": False,
    "log_redact": (),
    "log_buffer_bytes": 8388608,
    "otel": "auto",
}


def test_the_defaults() -> None:
    """They suit one machine, reachable from itself only."""
    assert Settings().model_dump() == DEFAULTS
