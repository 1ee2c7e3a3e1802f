"""Errors about files, for calling programs."""

from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.overload import Overloaded


class UnknownWorkspace(RequestError):
    """There is no workspace of this conversation of yours, or it has expired."""

    problem = (404, "unknown-workspace")


class UnknownConversation(RequestError):
    """There is no such conversation of yours, or nothing of it is kept any more."""

    problem = (404, "unknown-conversation")


class UnknownVectorStore(RequestError):
    """There is no such vector store of yours."""

    problem = (404, "unknown-vector-store")


class UnknownFile(RequestError):
    """There is no such file of yours, or it has expired."""

    problem = (404, "unknown-file")


class FileConflict(RequestError):
    """There is something else in the place of this file."""

    problem = (409, "file-conflict")


class FileBusy(RequestError):
    """Another request works on this file just now."""

    problem = (409, "file-busy")


class InvalidFile(RequestError):
    """What was sent cannot be a file."""

    problem = (422, "invalid-file")


class TooManyFiles(Overloaded):
    """There is no room for more files or vector stores."""

    problem = (429, "too-many-files")

    def __init__(self, message: str | None = None) -> None:
        # A concurrent client may have deleted some by then.
        super().__init__(message, retry_after=60)


class TooManyWorkspaces(Overloaded):
    """So many conversations have files here that this server takes no more of them."""

    problem = (503, "too-many-workspaces")

    def __init__(self, message: str | None = None) -> None:
        # Some expire every few minutes.
        super().__init__(message, retry_after=60)
