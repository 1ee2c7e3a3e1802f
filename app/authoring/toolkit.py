"""Groups of tools that are made together."""

from abc import ABC, abstractmethod

from pydantic import BaseModel, ConfigDict

from app.authoring.tool import BaseTool


class BaseToolkit(BaseModel, ABC):
    """Write a group of tools that share settings or clients as a class; an instance in your module offers them all."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @abstractmethod
    def get_tools(self) -> list[BaseTool]:
        """Return the tools of this group."""
