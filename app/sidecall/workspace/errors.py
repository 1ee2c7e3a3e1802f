"""What goes wrong with the files of a conversation, in words that a model can act on."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from sidecall.core.errors import ToolException

FileProblem = Literal["missing", "exists", "not_a_file", "refused", "too_large", "quota"]

_OUTSIDE = "{path} is a link or leads through one. Links are not followed: use the path of the file itself."
_SPECIAL = "{path} is not an ordinary file, and is not opened."
_FULL = "There is no space left for files. Delete some of them first."
# What the system says, and what a model is told.
_WORDS: dict[int, tuple[FileProblem, str]] = {
    errno.ENOENT: ("missing", "There is nothing at {path}."),
    errno.ENOTDIR: ("not_a_file", "{path} is not a folder, or leads through a file."),
    errno.EISDIR: ("not_a_file", "{path} is a folder, not a file."),
    errno.EEXIST: ("exists", "There is already something at {path}."),
    errno.ENOTEMPTY: ("exists", "There is already a folder with files at {path}."),
    errno.EXDEV: ("refused", _OUTSIDE),
    errno.ELOOP: ("refused", _OUTSIDE),
    errno.ENXIO: ("refused", _SPECIAL),
    errno.ENODEV: ("refused", _SPECIAL),
    errno.EAGAIN: ("refused", "The folders of {path} are being moved. Try again."),
    errno.ENAMETOOLONG: ("refused", "The path is too long."),
    errno.EINVAL: ("refused", "That cannot be done with {path}."),
    errno.EACCES: ("refused", "{path} may not be opened. Its permissions forbid it."),
    errno.EPERM: ("refused", "{path} may not be changed. Its permissions forbid it."),
    errno.EBUSY: ("refused", "{path} is in use."),
    errno.EMLINK: ("quota", _FULL),
    errno.ENOSPC: ("quota", _FULL),
    errno.EDQUOT: ("quota", _FULL),
    errno.EFBIG: ("too_large", "{path} would be too large."),
}


class WorkspaceError(ToolException):
    """Something cannot be done with a file of the workspace; `problem` says why in one word."""

    def __init__(self, problem: FileProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem

    def __reduce__(self) -> tuple[type["WorkspaceError"], tuple[FileProblem, str]]:
        return WorkspaceError, (self.problem, self.message)


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Raise what the system refuses as a WorkspaceError about this path; what is nobody's mistake stays as it is."""
    try:
        yield
    except OSError as error:
        if error.errno not in _WORDS:
            raise
        problem, text = _WORDS[error.errno]
        raise WorkspaceError(problem, text.format(path=path)) from None
