"""Offer the operations of configured OpenAPI documents, local and remote."""

import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from sidecall.feature import Start
from sidecall.features.openapi_import.from_openapi import FAILURES, ToolDefaults, fetch_document, make_toolkit
from sidecall.features.openapi_import.reading import parse_document, read_document
from sidecall.features.openapi_import.services import InvalidServices, ServiceEntry, read_services
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.core.options import DocumentApproval
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.registry import Registry
from sidecall.outgoing.bodies import AnswerBounds

_ENTRY = re.compile(r"(?:(?P<name>[A-Za-z0-9][A-Za-z0-9_-]{0,30})=)?(?P<place>.+)", re.DOTALL)
# User and password of an address, anywhere in a text.
_USER = re.compile(r"(?<=://)[^\s/?#'\"]*@")
# What may be a password in an invalid address, whose parts cannot be told apart.
_PERHAPS_USER = re.compile(r"(https?[:/]+)(?![:/])(?:.*@|[^/?#:]*:.*)", re.DOTALL | re.IGNORECASE)
_APPROVALS: dict[DocumentApproval, bool | str] = {"never": False, "writing": "writing", "always": True}
# Seconds until a failed fetch is repeated; doubled each time.
_FIRST_PAUSE = 5.0
_LONGEST_PAUSE = 300.0
_NOT_OFFERED = "It cannot be offered; the log says why."

logger = logging.getLogger("sidecall")


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document as configured: the prefix of its tools' names, and its options."""

    name: str | None
    entry: ServiceEntry

    @classmethod
    def parse(cls, text: str) -> "NamedDocument":
        """Read `name=place`, or a place alone.

        Raises:
            InvalidServices: The place is an address without a host.
        """
        found = _ENTRY.fullmatch(text)
        assert found is not None
        try:
            return cls(found["name"], ServiceEntry(document=found["place"]))
        except ValidationError as error:
            wrong = error.errors(include_input=False, include_url=False)[0]["msg"].removeprefix("Value error, ")
            shown = _PERHAPS_USER.sub(r"\1…", text)[:200]
            raise InvalidServices(f"SIDECALL_OPENAPI has {shown!r}: {wrong}.") from None

    @property
    def place(self) -> str:
        """The path or address of the document."""
        return self.entry.document

    @property
    def shown(self) -> str:
        """The address for logs and errors, without user and password."""
        return _USER.sub("", self.place)

    @property
    def is_remote(self) -> bool:
        """Whether it has to be fetched."""
        return self.entry.is_remote

    @property
    def label(self) -> str:
        """The public name of the document: the configured one, or its file's or host's."""
        return self.name or (urlsplit(self.place).hostname or "?" if self.is_remote else Path(self.place).stem)

    def make_tools(
        self, read: dict[str, Any], where: str, approval: DocumentApproval, origin: str | None = None
    ) -> list[CompiledTool]:
        """Make the tools of a document.

        Args:
            read: The document.
            where: Its name in errors.
            approval: The default of whether their calls need approval.
            origin: The address that it came from.

        Raises:
            DefinitionError: None of its operations can be a tool, or its credentials fit none of its schemes.
        """
        entry = self.entry
        asks = entry.requires_approval
        choices = ToolDefaults(
            where,
            self.name if entry.prefix else None,
            _APPROVALS[approval] if asks is None else asks,
            entry.base_url,
            origin,
            entry.auth,
            entry.headers,
            entry.private,
            entry.options,
        )
        return [tool.compiled for tool in make_toolkit(read, choices, entry.filter).get_tools()]


class OpenAPIDocuments:
    """The documents of one server: files are read at its start, others are fetched while it runs.

    `missing` has those that could not be fetched yet, with the reason.
    """

    def __init__(
        self,
        entries: Iterable[str] = (),
        approval: DocumentApproval = "never",
        bounds: AnswerBounds | None = None,
        services: Mapping[str, ServiceEntry] = MappingProxyType({}),
    ) -> None:
        """Take the configured documents.

        Args:
            entries: Paths or addresses, with or without `name=` before them.
            approval: The default of whether calls need approval.
            bounds: Bounds of fetched documents; None for the defaults.
            services: Services with options of their own, by name.
        """
        self.missing: dict[str, str] = {}
        self._approval: DocumentApproval = approval
        self._bounds = bounds
        self._documents = [NamedDocument.parse(entry) for entry in entries]
        self._documents += [NamedDocument(name, entry) for name, entry in services.items()]

    @property
    def are_fetched(self) -> bool:
        """Whether some documents arrive after the start."""
        return any(document.is_remote for document in self._documents)

    def read_files(self, registry: Registry) -> None:
        """Offer the tools of local documents.

        Raises:
            DefinitionError: A document cannot be read, or none of its operations can be a tool.
        """
        for document in self._documents:
            if not document.is_remote:
                read, where = read_document(document.place)
                registry.put_source(_name_source(document), document.make_tools(read, where, self._approval))

    @asynccontextmanager
    async def following(
        self, registry: Registry, on_loaded: Callable[[], object], pause: float = _FIRST_PAUSE
    ) -> AsyncIterator[None]:
        """Fetch the other documents while the body runs, and offer their tools; `on_loaded` is called for each."""
        remote = [document for document in self._documents if document.is_remote]
        self.missing.update((document.label, "It is being fetched.") for document in remote)
        tasks = [asyncio.create_task(self._follow(document, registry, on_loaded, pause)) for document in remote]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(
        self, document: NamedDocument, registry: Registry, on_loaded: Callable[[], object], pause: float
    ) -> None:
        while True:
            reason = await self._load(document, registry)
            if reason is None:
                self.missing.pop(document.label, None)
                on_loaded()
                return
            self.missing[document.label] = reason
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _load(self, document: NamedDocument, registry: Registry) -> str | None:
        """Fetch a document and offer its operations; return the reason of a failure."""
        try:
            text, origin = await fetch_document(document.place, document.entry.private, self._bounds)
            tools = await SERVER.run(self._make_tools, text, document, origin)
            registry.put_source(_name_source(document), tools)
        except FAILURES as error:
            logger.warning("the OpenAPI document %s cannot be fetched: %s", document.shown, _USER.sub("", str(error)))
            return "It cannot be fetched."
        except DefinitionError as error:
            logger.error("the OpenAPI document %s is not offered: %s", document.shown, error)
            return _NOT_OFFERED
        except Exception as error:  # Foreign documents can cause any error.
            logger.error("the OpenAPI document %s is not offered", document.shown, exc_info=error)
            return _NOT_OFFERED
        logger.info("loaded %s tools of %s", len(tools), document.shown)
        return None

    def _make_tools(self, text: bytes, document: NamedDocument, origin: str) -> list[CompiledTool]:
        return document.make_tools(parse_document(text, document.shown), document.shown, self._approval, origin)


def make_documents(start: Start) -> OpenAPIDocuments:
    """Read the configured documents, and offer the tools of local ones.

    Raises:
        DefinitionError: A document cannot be read, or none of its operations can be a tool.
        InvalidServices: What names services does not.
    """
    settings = start.server
    services = {} if settings.openapi_services is None else read_services(settings.openapi_services, os.environ)
    documents = OpenAPIDocuments(settings.openapi, settings.openapi_approval, services=services)
    documents.read_files(start.registry)
    return documents


def _name_source(document: NamedDocument) -> str:
    """Name a document uniquely: one may be offered several times, with other names or filters."""
    return f"{document.name}={document.place}"
