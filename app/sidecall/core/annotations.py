"""What an author promises about a tool's effects."""

from pydantic import BaseModel, ConfigDict


class ToolAnnotations(BaseModel):
    """Say what calling a tool does to the world; None says nothing.

    `read_only` changes nothing, `destructive` may undo what is there, `idempotent` has no further effect when the same
    call is made again. They are hints for the caller, shown by `GET /tools/{name}` and to MCP clients.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None

    @property
    def mcp(self) -> dict[str, bool]:
        """The hints under MCP's names, those that are said."""
        hints = {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
        }
        return {name: value for name, value in hints.items() if value is not None}
