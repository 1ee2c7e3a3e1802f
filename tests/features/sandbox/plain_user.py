"""Programs run by a user who is not root, also where the tests are run by root."""

import os
import stat
import sys
from pathlib import Path

from bench.environments import ROOT

#: Nobody's, on every Linux.
_USER = 65534
# In mounts of its own: show the folder that only root may pass with nothing in it but what tests need.
_SHOW = """
set -e
closed=$1; shift
mount -t tmpfs -o mode=755 none /mnt
while [ "$1" != -- ]; do
    mkdir -p "/mnt$1"; mount --bind "$1" "/mnt$1"; shift
done
shift
[ -z "$closed" ] || mount --rbind "/mnt$closed" "$closed"
exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""


def as_plain_user(*command: str) -> list[str]:
    """Return the command that runs another as a plain user: as it is where the tests are run by one."""
    if os.geteuid() != 0:
        return list(command)
    needed = [place for place in (Path(sys.base_prefix), Path(sys.prefix), ROOT) if _find_closed(place) is not None]
    closed = next((str(_find_closed(place)) for place in needed), "")
    return ["unshare", "--mount", "--", "sh", "-c", _SHOW, "sh", closed, *map(str, needed), "--", *command]


def give(folder: Path) -> Path:
    """Give a folder to that user."""
    if os.geteuid() == 0:
        os.chown(folder, _USER, _USER)
    return folder


def _find_closed(place: Path) -> Path | None:
    """Return the uppermost folder above a place that others may not pass."""
    above = reversed(place.resolve().parents)
    return next((folder for folder in above if not folder.stat().st_mode & stat.S_IXOTH), None)
