"""Metrics, log lines and spans of calls."""

from sidecall.features.telemetry.lines import log_failure, log_hook_failure, log_predicate_failure

__all__ = ["log_failure", "log_hook_failure", "log_predicate_failure"]
