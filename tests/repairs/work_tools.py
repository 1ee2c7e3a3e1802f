"""Tools as programs have them: edits, trees, records of a JSON Schema, conditions, schedules."""

import datetime
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, Field

from sidecall import BaseTool, tool
from tests.repairs.wrong_tools import write_given


class Replace(BaseModel):
    """Put other text in the place of text."""

    op: Literal["replace"]
    old_text: str
    new_text: str


class Insert(BaseModel):
    """Put text before a line."""

    op: Literal["insert"]
    line: Annotated[int, Field(ge=1)]
    text: str


class Delete(BaseModel):
    """Remove lines."""

    op: Literal["delete"]
    first_line: Annotated[int, Field(ge=1)]
    last_line: Annotated[int, Field(ge=1)]


@tool
async def edit_file(
    path: Annotated[str, Field(pattern=r"^src/")],
    edits: Annotated[list[Annotated[Replace | Insert | Delete, Field(discriminator="op")]], Field(min_length=1)],
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    dry_run: bool = False,
):
    """Edit a file."""
    return write_given(path=path, edits=edits, encoding=encoding, dry_run=dry_run)


class File(BaseModel):
    """A file."""

    name: str
    size_bytes: Annotated[int, Field(ge=0)] = 0


class Folder(BaseModel):
    """A folder."""

    name: Annotated[str, Field(max_length=20)]
    files: list[File] = []
    folders: list["Folder"] = []


@tool
async def save_tree(root: Folder, overwrite: Literal["never", "ask", "always"] = "ask"):
    """Save a tree of files."""
    return write_given(root=root, overwrite=overwrite)


class Slot(BaseModel):
    """From a time to a time."""

    begins: datetime.time
    ends: datetime.time
    celsius: Annotated[float, Field(ge=5, le=30)]


@tool
async def set_heating(
    schedule: dict[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], list[Slot]],
    fan_level: Literal[1, 2, 3] | None = None,
    away: bool = False,
):
    """Set the heating."""
    return write_given(schedule=schedule, fan_level=fan_level, away=away)


class Compare(BaseModel):
    """One condition."""

    column: str
    operator: Literal["eq", "ne", "gt", "lt", "in"]
    value: str | int | float | bool | list[str]


class AllOf(BaseModel):
    """All of them."""

    all: list["Compare | AllOf | AnyOf"]


class AnyOf(BaseModel):
    """One of them."""

    any: list["Compare | AllOf | AnyOf"]


@tool
async def query_rows(
    table: str,
    where: Compare | AllOf | AnyOf | None = None,
    order: list[tuple[str, Literal["asc", "desc"]]] | None = None,
    cursor: str | None = None,
    limit: Annotated[int, Field(ge=1, le=200, multiple_of=10)] = 50,
):
    """Query rows."""
    return write_given(table=table, where=where, order=order, cursor=cursor, limit=limit)


@dataclass
class LocalFile:
    """A file here."""

    local_path: str


@dataclass
class RemoteFile:
    """A file elsewhere."""

    host: str
    remote_path: str
    port: int = 22


@tool
async def copy_file(
    source: LocalFile | RemoteFile,
    target: LocalFile | RemoteFile,
    checksum: Annotated[str, Field(pattern="^[a-f0-9]{8}$", description="CRC-32 in hexadecimal.")] | None = None,
    retries: int | Literal["forever"] = 3,
):
    """Copy a file."""
    return write_given(source=source, target=target, checksum=checksum, retries=retries)


class Settings(BaseModel):
    """How a job runs."""

    job_name: Annotated[str, Field(alias="jobName", min_length=3)]
    memory_mb: Annotated[int, Field(validation_alias=AliasChoices("memoryMb", "memory_mb"), ge=64)] = 256
    env: dict[str, str] = {}


@tool(args_schema=Settings)
async def start_job(job_name: str, memory_mb: int = 256, env: dict[str, str] | None = None):
    """Start a job."""
    return write_given(job_name=job_name, memory_mb=memory_mb, env=env)


RECORD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^rec_[a-z0-9]+$"}]},
        "patch": {
            "type": "object",
            "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
        },
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 3},
        "visibility": {"enum": ["private", "team", "public"]},
        "expires_at": {"type": ["string", "null"], "format": "date-time"},
        "position": {"$ref": "#/$defs/position"},
        "trigger": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"type": {"const": "cron"}, "expression": {"type": "string"}},
                    "required": ["type", "expression"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {"type": {"const": "webhook"}, "secret_name": {"type": "string"}},
                    "required": ["type", "secret_name"],
                    "additionalProperties": False,
                },
            ]
        },
        "confidence": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    },
    "required": ["id"],
    "additionalProperties": False,
    "$defs": {
        "position": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}, "layer": {"type": "integer"}},
            "required": ["x", "y"],
        }
    },
}


@tool(args_schema=RECORD)
async def update_record(**given: Any):
    """Update a record."""
    return write_given(**given)


WORK_TOOLS: dict[str, BaseTool] = {
    it.name: it for it in (edit_file, save_tree, set_heating, query_rows, copy_file, start_job, update_record)
}
