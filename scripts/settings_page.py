"""Write docs/settings.md from the settings themselves: `python scripts/settings_page.py`, or `make docs`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from sidecall.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"

_INTRODUCTION = """\
# Settings

<!-- Written by `make docs` from app/sidecall/settings: change what is there, not this page. -->

Every setting is an environment variable, and each has a default that works. `sidecall serve` has flags for ten of
them, which win over the environment: `--host`, `--port`, `--unix`, `--tls-cert`, `--tls-key`, `--tools`, `--toolkit`,
`--workers`, `--reload`, `--allow-empty`. `sidecall settings` prints [what holds](commands.md#settings).

A variable that is empty counts as not set. A wrong value stops the start. So does a name that is nearly one of these,
such as `SIDECALL_MAX_BODY_BYTE`: a limit that is misspelled would not hold. Other unknown names that begin with
`SIDECALL_` are named in the log and ignored.

Whole numbers are 1,000,000,000,000,000 at most.

"Per worker" means that each server process counts for itself; [more than one
worker](deploy.md#more-than-one-worker) says what follows.
"""

# The page's sections: a heading, a sentence, and the settings in their order.
_GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Server",
        "Where it listens, how many processes serve, and whether [clients of MCP](mcp.md) are served too.",
        ("host", "port", "unix", "unix_mode", "tls_cert", "tls_key", "workers", "mcp", "mcp_sessions"),
    ),
    (
        "Tools",
        "Which tools are offered: [where tools are found](tools.md#where-tools-are-found), "
        "[OpenAPI documents](openapi.md#without-code), [features](features.md#a-feature-that-is-off).",
        (
            "tools",
            "toolkits",
            "openapi",
            "openapi_approval",
            "openapi_services",
            "entry_points",
            "features_off",
            "reload",
            "allow_empty",
            "secrets_dir",
            "secrets_key",
            "secrets_key_file",
            "max_secrets",
        ),
    ),
    (
        "Workspaces",
        "The [files of conversations](workspaces.md), which tools share.",
        (
            "workspace_dir",
            "workspace_idle_ttl",
            "workspace_ttl",
            "max_workspaces",
            "workspace_max_bytes",
            "workspace_max_file_bytes",
            "workspace_max_entries",
        ),
    ),
    (
        "MCP servers",
        "Servers whose tools are offered beside the own: [MCP servers](mcp-servers.md).",
        ("mcp_servers", "mcp_connect_timeout", "mcp_max_tools", "mcp_pin", "mcp_pins_file"),
    ),
    (
        "Acting for persons",
        "At whom [persons sign in](oauth.md), so that tools may act for them.",
        ("oauth", "public_url"),
    ),
    (
        "Running a tool",
        "What one call may take, unless its author says otherwise: [options](tools.md#options), "
        "[executors](executors.md).",
        ("tool_timeout", "threads", "processes", "process_import", "memory_limit_mb", "process_env"),
    ),
    (
        "Fleet",
        "Which tools run on [workers](fleet.md), where their bus is, and what protects the way there.",
        ("fleet", "fleet_key", "fleet_ca", "fleet_credentials", "placement", "fleet_max_waiting"),
    ),
    (
        "Sandbox",
        "What programs of models may take, and which run unasked: [the sandbox](sandbox.md).",
        (
            "sandbox_memory_mb",
            "sandbox_processes",
            "sandbox_waiting",
            "sandbox_file_mb",
            "shell_allow",
            "shell_output_bytes",
            "python",
        ),
    ),
    (
        "Limits",
        "How many calls run and wait, and how large a request may be: [limits](limits.md).",
        (
            "max_concurrency",
            "max_queue",
            "queue_timeout",
            "max_batch",
            "max_body_bytes",
            "max_body_bytes_in_flight",
            "max_json_values",
        ),
    ),
    (
        "Callers",
        "Who may call, who does, and what one caller may have: [callers](callers.md), "
        "[names and web pages](security.md).",
        (
            "auth",
            "allow_unauthenticated",
            "keys_file",
            "jwt_issuer",
            "jwt_audience",
            "jwt_keys_url",
            "jwt_algorithms",
            "jwt_scopes_claim",
            "jwt_tenant_claim",
            "caller_header",
            "tenant_header",
            "scopes_header",
            "gateways",
            "toolsets",
            "docs",
            "console",
            "trace_url",
            "metrics",
            "hosts",
            "origins",
            "max_concurrency_per_caller",
            "rate_limit",
            "shared_rates",
            "budget",
            "budget_action",
            "audit_ttl",
            "max_audit_entries",
        ),
    ),
    (
        "Contents and approvals",
        "What is kept, and [where](durability.md): [large results](limits.md#large-results), "
        "[a person's approval](control.md#a-persons-approval), [answers given again](tools.md#cached-answers).",
        (
            "store",
            "max_content_bytes",
            "artifact_ttl",
            "max_artifact_bytes",
            "max_artifact_bytes_per_caller",
            "max_result_bytes",
            "approval_ttl",
            "max_approvals",
            "max_approval_rules",
            "max_approval_rules_per_tenant",
            "max_waiting_bytes",
            "max_store_bytes",
            "max_item_bytes",
            "max_cache_bytes",
            "max_cache_entries",
            "max_unread_bytes",
        ),
    ),
    (
        "Remembered calls",
        "Calls that run once by a key, or go on without their client: [calls that are remembered](jobs.md), "
        "[webhooks](jobs.md#webhooks), [of approvals](approval-webhooks.md) too.",
        (
            "max_running_jobs",
            "share_jobs",
            "max_queued_jobs",
            "max_wait",
            "idempotency_ttl",
            "job_ttl",
            "max_jobs",
            "max_job_bytes",
            "webhook_hosts",
            "approval_webhooks",
            "approval_expiry_notice",
            "webhook_secret",
        ),
    ),
    (
        "Going out",
        "Which hosts tools reach with a [guarded client](security.md#outgoing-requests), and what may come back.",
        (
            "outgoing_hosts",
            "outgoing_private_hosts",
            "outgoing_ports",
            "outgoing_max_bytes",
            "outgoing_timeout",
            "outgoing_proxy",
            "fetch_allowed_domains",
            "fetch_blocked_domains",
            "file_search_folder",
            "file_search_max_bytes",
            "file_search_max_files",
            "embeddings_url",
            "embeddings_model",
            "embeddings_secret",
            "images_url",
            "images_model",
            "images_secret",
            "images_partials",
        ),
    ),
    (
        "History",
        "Calls that have ended: [every call, afterwards](history.md).",
        (
            "history",
            "history_ttl",
            "max_history_calls",
            "max_history_bytes",
            "max_history_value_bytes",
            "history_buffer_bytes",
        ),
    ),
    (
        "Connections",
        "What a slow or hostile client meets: [hostile connections](limits.md#hostile-connections).",
        ("max_connections", "keep_alive", "header_timeout", "body_timeout"),
    ),
    (
        "Start and end",
        "How the server ends, and when it complains: [start, drain and end](lifecycle.md).",
        ("drain_grace", "drain_timeout", "stuck_after", "worker_silent_after"),
    ),
    (
        "Logs and traces",
        "What is written down: [metrics, log and traces](observability.md).",
        ("log_level", "log_format", "log_calls", "log_requests", "log_args", "log_redact", "log_buffer_bytes", "otel"),
    ),
)
_TYPES = {
    bool: "`true` or `false`",
    int: "whole number",
    float: "number",
    str: "text",
    SecretStr: "secret",
    Path: "path",
}


def render_page() -> str:
    """Return the whole page.

    Raises:
        ValueError: A setting stands in no group, or in two.
    """
    grouped = [name for _, _, names in _GROUPS for name in names]
    if sorted(grouped) != sorted(Settings.model_fields):
        raise ValueError(f"not in exactly one group: {sorted(set(grouped) ^ set(Settings.model_fields))}")
    return "\n".join([_INTRODUCTION, *(_render_group(*group) for group in _GROUPS)])


def show_default(field: FieldInfo) -> str:
    """Return a default as it would stand in the environment, empty where nothing is set."""
    default = field.get_default(call_default_factory=True)
    if default is None or default == ():
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{','.join(map(str, default)) if isinstance(default, tuple) else default}`"


def _render_group(title: str, sentence: str, names: tuple[str, ...]) -> str:
    return f"## {title}\n\n{sentence}\n\n| variable | default | takes | meaning |\n|---|---|---|---|\n" + "".join(
        f"| `SIDECALL_{name.upper()}` | {show_default(field)} | {_describe_values(field)} | {field.description} |\n"
        for name, field in ((name, Settings.model_fields[name]) for name in names)
    )


def _describe_values(field: FieldInfo) -> str:
    annotation = next(iter(_take_apart(field.annotation)))
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) is tuple:
        kind = next(_take_apart(get_args(annotation)[0]))
        return f"{_TYPES.get(kind, 'text')}s, separated by commas"
    return ", ".join([_TYPES[annotation], *_describe_bounds(field)])


def _take_apart(annotation: Any) -> Iterator[Any]:
    """Yield the types that an annotation allows, but for None."""
    if get_origin(annotation) is Annotated:
        yield from _take_apart(get_args(annotation)[0])
    elif get_origin(annotation) in (None, Literal, tuple):
        yield annotation
    else:
        yield from (it for part in get_args(annotation) if part is not type(None) for it in _take_apart(part))


def _describe_bounds(field: FieldInfo) -> Iterator[str]:
    for bound in field.metadata:
        if isinstance(bound, Ge):
            yield f"at least {bound.ge}"
        elif isinstance(bound, Gt):
            yield f"above {bound.gt}"
        elif isinstance(bound, Le):
            yield f"at most {bound.le}"


if __name__ == "__main__":
    PAGE.write_text(render_page())
