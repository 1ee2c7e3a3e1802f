"""Settings for the offered tools: places and shipped toolkits."""

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from sidecall.features.toolkits.choosing import find_files, find_toolkit
from sidecall.kernel.core.errors import SidecallError
from sidecall.loading.tool_lists import Texts


class ToolSettings(BaseSettings, defer_build=True):
    """Where to find the offered tools."""

    tools: Texts = Field(
        default=("tools",),
        description="Where tools are: modules, packages, files and folders, separated by commas. The default is the "
        "folder `tools` where the server is started, or else the tools that ship.",
    )
    toolkits: Texts = Field(
        default=(),
        description="Shipped toolkits to offer as well, separated by commas. `sidecall toolkits` lists them with "
        "their risks; none is on unless it is named.",
    )

    @field_validator("toolkits")
    @classmethod
    def _are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(find_toolkit(name).name for name in names)
        except SidecallError as error:
            raise ValueError(error.message) from None

    @property
    def places(self) -> list[str]:
        """The places of the offered tools, toolkits last.

        Raises:
            InvalidToolkit: A toolkit lacks something.
        """
        return [*self.tools, *find_files(self.toolkits)]
