"""Settings for the offered tools: places and shipped toolkits."""

import os
import re

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.variables import Texts
from sidecall.loading.toolkits import find_files, find_toolkit
from sidecall.outgoing.addresses import names_host
from sidecall.outgoing.patterns import parse_hosts


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


_TENANT, _PLACE_HOLDERS = "{tenant}", re.compile(r"\{[^{}/]*\}")


class ShippedToolSettings(BaseSettings, defer_build=True):
    """The hosts and paths that shipped tools may use."""

    fetch_allowed_domains: Texts = Field(
        default=(),
        description="The only domains that `web_fetch` reads, with their subdomains, separated by commas: "
        "`example.com,python.org`.",
    )
    fetch_blocked_domains: Texts = Field(
        default=(), description="Domains that `web_fetch` never reads, with all below them, even if they are allowed."
    )

    file_search_folder: str | None = Field(
        default=None,
        description="Folder in whose files `file_search` looks; `{tenant}` in it stands for the caller's tenant. "
        "Without that all callers find the same.",
    )
    file_search_max_bytes: int = Field(
        default=256 * 1024 * 1024,
        ge=1024,
        description="Most bytes of the files that one tenant has sent to be searched, with those of their pieces.",
    )
    file_search_max_files: int = Field(
        default=20_000, ge=1, description="Most files that one tenant has sent to be searched, and as many in stores."
    )
    embeddings_url: str | None = Field(
        default=None,
        description="Service whose OpenAI-compatible `/embeddings` are asked what files and queries of vector stores "
        "mean, such as `https://api.openai.com/v1`. Without it words alone are compared.",
    )
    embeddings_model: str = Field(default="text-embedding-3-small", min_length=1, description="Its model.")
    embeddings_secret: str = Field(
        default="OPENAI_API_KEY", min_length=1, description="Name of the secret that it is shown as a bearer token."
    )
    images_url: str | None = Field(
        default=None,
        description="Service in whose Images API `image_generation` makes images, such as `https://api.openai.com/v1`.",
    )
    images_model: str | None = Field(
        default=None, description="Which of its models; the service's own choice when not set."
    )
    images_secret: str = Field(
        default="OPENAI_API_KEY", min_length=1, description="Name of the secret that it is shown as a bearer token."
    )
    images_partials: int = Field(
        default=0, ge=0, le=3, description="How many unfinished images are shown as progress; each is a content."
    )

    @field_validator("file_search_folder")
    @classmethod
    def _is_found(cls, folder: str | None) -> str | None:
        """Refuse a folder that cannot be searched; tenants' folders may be made later."""
        if folder is None or os.path.isdir(folder):
            return folder
        for word in _PLACE_HOLDERS.findall(folder):
            if word != _TENANT:
                raise ValueError(f"{word} stands for nothing; write {_TENANT} for the caller's tenant")
        if _TENANT not in folder:
            raise ValueError("there is no such folder, or it may not be read")
        return folder

    @field_validator("images_url", "embeddings_url")
    @classmethod
    def _is_service(cls, text: str | None) -> str | None:
        if text is not None and not names_host(text):
            raise ValueError("write the address of a service, such as https://api.openai.com/v1")
        return text

    @field_validator("fetch_allowed_domains", "fetch_blocked_domains")
    @classmethod
    def _are_domains(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in parse_hosts(entries) if entries else ():
            if pattern.is_wildcard or pattern.network is not None or pattern.port is not None:
                raise ValueError(f"{pattern.text!r} is no domain: write example.com, which stands for all below it")
        return entries
