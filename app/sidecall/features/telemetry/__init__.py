"""What the operator sees of calls: metrics, log lines and spans."""

from sidecall.features.telemetry.lines import log_failure, log_hook_failure, log_predicate_failure

__all__ = ["log_failure", "log_hook_failure", "log_predicate_failure"]
