"""What an operator may set, from the environment."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

LogLevel = Literal["debug", "info", "warning", "error"]


class Settings(BaseSettings):
    """Hold every setting; each is read from the variable `SIDECALL_` plus its name in capitals.

    Raises:
        ValidationError: A value is out of its range; the message names the setting.
    """

    model_config = SettingsConfigDict(env_prefix="SIDECALL_", frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    tools: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("tools",), description="Where tools are: modules, packages, files and folders, separated by commas."
    )
    entry_points: bool = Field(
        default=True, description="Whether installed packages may offer tools through the group `sidecall.tools`."
    )
    workers: int = Field(default=1, ge=1, description="Server processes; each has its own threads and limits.")
    reload: bool = Field(default=False, description="Watch the tools' files and load them again when they change.")
    threads: int = Field(default=32, ge=1, description="Threads for sync tools, per worker.")
    tool_timeout: float = Field(
        default=30.0, gt=0, allow_inf_nan=False, description="Seconds a tool may take unless it says otherwise."
    )
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024, description="Largest request body, in bytes.")
    max_batch: int = Field(default=128, ge=1, description="Most calls in one batch.")
    log_level: LogLevel = Field(default="info", description="Least severe log lines to write.")

    @field_validator("tools", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value
