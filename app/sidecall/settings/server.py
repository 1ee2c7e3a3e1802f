"""The settings of a server, from the environment."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from sidecall.features.console.settings import ConsoleSettings
from sidecall.features.costs.budget_settings import CostSettings
from sidecall.features.credentials.oauth.settings import OAuthSettings
from sidecall.features.jobs.settings import JobSettings
from sidecall.features.mcp_client.feature import UpstreamFields
from sidecall.features.telemetry.feature import LogFormat, TracingMode
from sidecall.kernel.core.options import DocumentApproval
from sidecall.kernel.core.quota import check_rate
from sidecall.kernel.variables import Texts
from sidecall.outgoing.settings import OutgoingSettings
from sidecall.settings.access import AccessSettings
from sidecall.settings.fleet import FleetSettings
from sidecall.settings.history import AuditSettings, HistorySettings
from sidecall.settings.sandbox import SandboxSettings, WorkspaceSettings
from sidecall.settings.secrets import SecretSettings
from sidecall.settings.toolkits import ShippedToolSettings, ToolSettings
from sidecall.settings.webhooks import WebhookSettings

PREFIX = "SIDECALL_"
# Of any whole number: each database takes it, also with what is added to it.
_MOST = 1_000_000_000_000_000
LogLevel = Literal["debug", "info", "warning", "error"]


class _Environment(EnvSettingsSource):
    """Settings source for the environment; without variables of ours it skips the look-up of each, which is slow."""

    def __call__(self) -> dict[str, Any]:
        is_asked = any(name.startswith(PREFIX.lower()) for name in self.env_vars)
        return super().__call__() if is_asked else {}


class Settings(
    AccessSettings,
    AuditSettings,
    ConsoleSettings,
    CostSettings,
    FleetSettings,
    HistorySettings,
    JobSettings,
    OAuthSettings,
    SandboxSettings,
    SecretSettings,
    ShippedToolSettings,
    ToolSettings,
    UpstreamFields,
    WebhookSettings,
    WorkspaceSettings,
    OutgoingSettings,
):
    """All settings; each is read from the variable `SIDECALL_` plus its name in capitals.

    Raises:
        ValidationError: A value is out of its range; the message names the setting.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")
    _forgets: str | None = PrivateAttr(default=None)

    @property
    def forgets(self) -> str | None:
        """Why durable data is lost at the end of the process without this being configured; None if it is kept."""
        return self._forgets

    def forgetting(self, store: str, reason: str) -> Self:
        """Return the settings with another, non-durable store, and the reason."""
        changed = self.model_copy(update={"store": store})
        changed._forgets = reason
        return changed

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use only arguments and the environment as sources; no files."""
        return init_settings, _Environment(settings_cls)

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    unix: Path | None = Field(
        default=None,
        description="Unix socket to listen on, in place of an address and a port. A file that a server has left there "
        "is replaced.",
    )
    unix_mode: str = Field(
        default="600",
        pattern=r"^0?[0-7]{3}$",
        description="Who may connect to it, as `chmod` takes it: `660` for the group, too.",
    )
    tls_cert: Path | None = Field(
        default=None, description="File (PEM) with the certificate to serve HTTPS with, and those that it rests on."
    )
    tls_key: Path | None = Field(
        default=None, description="File (PEM) with its private key, which is not encrypted; may be the same file."
    )
    entry_points: bool = Field(
        default=True, description="Whether installed packages may offer tools through the group `sidecall.tools`."
    )
    features_off: Texts = Field(
        default=(),
        description="Features that are left out, separated by commas. What asks for one stops the start.",
    )
    openapi: Texts = Field(
        default=(),
        description="OpenAPI documents whose operations are offered as tools: paths and addresses, separated by "
        "commas; `name=` before one stands before its tools' names.",
    )
    openapi_approval: DocumentApproval = Field(
        default="never",
        description="Whether a person approves calls of those tools: `never`, `always`, or `writing`: all but GET and "
        "HEAD.",
    )
    openapi_services: str | None = Field(
        default=None,
        description="Services of which more is said, such as credentials and filters: the path of a file in JSON or "
        "YAML, or its text in JSON.",
    )
    workers: int = Field(
        default=1,
        ge=1,
        description="Server processes; each has its own threads and limits, and all share the store.",
    )
    reload: bool = Field(default=False, description="Reload the tools when their files change.")
    allow_empty: bool = Field(
        default=False,
        description="Whether a server starts that would offer no tool: none is found, and none can come later, from "
        "MCP servers, OpenAPI documents or by `SIDECALL_RELOAD`.",
    )
    mcp: bool = Field(default=True, description="Serve the tools at `/mcp` too, for clients of MCP.")
    mcp_sessions: bool = Field(
        default=True,
        description="Give clients of MCP's earlier revisions sessions, by which they cancel calls. With several "
        "workers, or a store that servers share, there are none.",
    )
    threads: int = Field(default=32, ge=1, description="Threads for sync tools, per worker.")
    processes: int = Field(
        default=4,
        ge=1,
        description="Processes for tools that run in one, at most, per worker; none without such a tool.",
    )
    process_import: Literal["once", "each"] = Field(
        default="once",
        description="How those processes get their tools: `once`, imported by one from which the others are forked, "
        "where the modules allow it; `each`, imported by each process.",
    )
    memory_limit_mb: int = Field(
        default=1024, ge=1, le=1_000_000, description="Default memory limit of a tool in a process, in megabytes."
    )
    tool_timeout: float = Field(
        default=30.0, gt=0, allow_inf_nan=False, description="Seconds a tool may take unless it says otherwise."
    )
    store: str | None = Field(
        default=None,
        description="Where approvals, cut results and what tools remember are kept: `sqlite:///path` in a file, "
        "`postgresql://user:password@host:5432/database` in a database, `memory://` until the server ends. All "
        "workers share it. The default of `sidecall serve` is `sqlite:///.sidecall/ledger.db`.",
    )
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024, description="Largest request body in bytes.")
    max_body_bytes_in_flight: int = Field(
        default=24 * 1024 * 1024,
        ge=1024,
        description="Most bytes of request bodies that are kept at once, per worker; at least one largest body.",
    )
    max_json_values: int = Field(
        default=50_000, ge=100, description="Most values in one request body, counted at every depth."
    )
    max_concurrency: int = Field(default=10_000, ge=1, description="Most calls that run at once, per worker.")
    max_concurrency_per_caller: int | None = Field(
        default=None, ge=1, description="Most calls that run or wait at once for one caller; more get 429."
    )
    rate_limit: str | None = Field(
        default=None,
        description="Calls that one caller may make, per worker, for instance `100/minute`; more get 429.",
    )
    shared_rates: bool = Field(
        default=False,
        description="Whether all workers and servers of one PostgreSQL count the calls of a caller together.",
    )
    max_queue: int = Field(
        default=1000,
        ge=0,
        description="Most calls that wait for a place, per worker, and most requests that wait for a call which was "
        "sent before; more get 503.",
    )
    queue_timeout: float = Field(
        default=10.0, gt=0, allow_inf_nan=False, description="Seconds a call may wait for a place."
    )
    max_content_bytes: int = Field(
        default=1_000_000, ge=200, description="Most bytes of one answer that a model reads; the rest is cut out."
    )
    artifact_ttl: float = Field(
        default=3600.0, gt=0, allow_inf_nan=False, description="Seconds that results which were cut are kept whole."
    )
    max_artifact_bytes: int = Field(
        default=32 * 1024 * 1024, ge=0, description="Most bytes of such results kept together."
    )
    max_artifact_bytes_per_caller: int | None = Field(
        default=None, ge=1, description="Most bytes of them and of uploads that one caller keeps; more uploads get 429."
    )
    max_result_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=1024,
        description="Most bytes of an artifact, as JSON, and of a batch's answers together; more is a failed call. "
        "Where results in the making take more, per worker, tools wait.",
    )
    approval_ttl: float = Field(
        default=3600.0,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds until a call that needs approval is forgotten.",
    )
    max_approvals: int = Field(
        default=5000,
        ge=1,
        description="Most approvals that wait or run, within SIDECALL_MAX_WAITING_BYTES; more are answered "
        "with 503. What is answered does not count.",
    )
    max_approval_rules: int = Field(
        default=10_000, ge=1, description="Most decisions kept that hold for later calls; more are answered with 409."
    )
    max_approval_rules_per_tenant: int = Field(
        default=1000, ge=1, description="Most of them that one tenant keeps; more are answered with 409."
    )
    max_waiting_bytes: int = Field(
        default=32 * 1024 * 1024,
        ge=1024,
        description="Most bytes of approvals kept together, with their calls and answers and 4 KiB beside each; "
        "what is answered makes room, and more are answered with 503.",
    )
    max_store_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=0,
        description="Most bytes of what tools remember in the store, per worker, where it is kept in memory; beyond it "
        "they cannot add anything.",
    )
    max_item_bytes: int = Field(
        default=1024 * 1024, ge=1, description="Most bytes of one thing that tools remember in the store, as JSON."
    )
    max_cache_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=0,
        description="Most bytes of answers that are given again, per worker; beyond it those go that were not asked "
        "for longest.",
    )
    max_cache_entries: int = Field(default=10_000, ge=0, description="Most of such answers, per worker.")
    max_unread_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=1024,
        description="Most bytes of answers and events that wait for their readers, per worker; beyond it the slowest "
        "are cut off.",
    )
    max_batch: int = Field(default=128, ge=1, description="Most calls in one batch.")
    max_connections: int = Field(
        default=16_384, ge=1, description="Most connections, per worker; more are answered with 503."
    )
    header_timeout: float = Field(
        default=10.0, ge=1, allow_inf_nan=False, description="Seconds in which the headers of a request must arrive."
    )
    body_timeout: float = Field(
        default=30.0, ge=1, allow_inf_nan=False, description="Seconds in which the body of a request must arrive."
    )
    keep_alive: int = Field(
        default=75,
        ge=1,
        description="Seconds for which a connection is kept without a request; more than the proxy in front keeps it.",
    )
    drain_grace: float = Field(
        default=2.0,
        ge=0,
        allow_inf_nan=False,
        description="Seconds for which it still listens after SIGTERM, while not ready.",
    )
    drain_timeout: float = Field(
        default=30.0, ge=0, allow_inf_nan=False, description="Seconds for running calls to finish after that; then 503."
    )
    stuck_after: float = Field(
        default=2.0,
        ge=0.1,
        allow_inf_nan=False,
        description="Seconds until a blocked event loop is logged, with its stack.",
    )
    worker_silent_after: float = Field(
        default=30.0,
        ge=0,
        allow_inf_nan=False,
        description="Seconds after which one of several workers is killed and replaced that gives no sign of life, as "
        "when it is stopped; 0: never. One whose event loop is blocked gives them.",
    )
    log_level: LogLevel = Field(default="info", description="Least severe log lines to write.")
    log_format: LogFormat = Field(default="auto", description="`json`, `text`, or `auto`: text on a terminal only.")
    log_calls: bool = Field(default=False, description="Whether each call is logged; at level debug it always is.")
    log_requests: bool = Field(
        default=False, description="Whether each request is logged, those that are refused before a call included."
    )
    log_args: bool = Field(
        default=False, description="Whether these lines include arguments and results, with secrets redacted by name."
    )
    log_redact: Texts = Field(
        default=(), description="More names of fields whose values are never logged, separated by commas."
    )
    log_buffer_bytes: int = Field(
        default=8 * 1024 * 1024,
        ge=64 * 1024,
        description="Most bytes of stderr, and as many of stdout, that wait to be read, per worker; more are dropped.",
    )
    otel: TracingMode = Field(
        default="auto", description="`on`, `off`, or `auto`: spans are sent if the variables `OTEL_…` name a collector."
    )

    @field_validator("*")
    @classmethod
    def _is_countable(cls, value: Any) -> Any:
        if type(value) is int and value > _MOST:
            raise ValueError(f"write {_MOST} at most")
        return value

    @field_validator("port", mode="before")
    @classmethod
    def _not_a_link(cls, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("tcp://"):
            raise ValueError(f"{value} comes from a Kubernetes Service named sidecall; set enableServiceLinks: false")
        return value

    @field_validator("host", mode="before")
    @classmethod
    def _is_bare(cls, value: Any) -> Any:
        """Refuse an empty address, which would listen on all interfaces."""
        bare = value.strip().removeprefix("[").removesuffix("]") if isinstance(value, str) else value
        if bare == "":
            raise ValueError("write an address, such as 127.0.0.1, 0.0.0.0 or ::1")
        return bare

    @field_validator("rate_limit")
    @classmethod
    def _is_rate(cls, rate: str | None) -> str | None:
        return None if rate is None else check_rate(rate)
