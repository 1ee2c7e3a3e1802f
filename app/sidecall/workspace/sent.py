"""Which files of a workspace programs have sent, beside those that tools made."""

import json
from contextlib import suppress

from sidecall.workspace.claims import Claim
from sidecall.workspace.removing import make_unfinished_name
from sidecall.workspace.workspace import Workspace

_NAME = "sent"


def read_sent(workspace: Workspace) -> frozenset[str]:
    """Return the paths of the files that programs have sent."""
    with suppress(OSError, ValueError):
        return frozenset(json.loads(_require_claim(workspace).folder.joinpath(_NAME).read_text()))
    return frozenset()


def note_sent(workspace: Workspace, path: str) -> None:
    """Note that a program has sent this file; what is not there any more is forgotten."""
    kept = sorted({path, *(it for it in read_sent(workspace) if workspace.is_there(it))})
    folder = _require_claim(workspace).folder
    unfinished = folder / make_unfinished_name()
    unfinished.write_text(json.dumps(kept))
    unfinished.rename(folder / _NAME)


def _require_claim(workspace: Workspace) -> Claim:
    assert isinstance(workspace.claim, Claim)
    return workspace.claim
