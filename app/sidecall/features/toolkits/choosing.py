"""Find the toolkits that were named, and what they lack."""

import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from sidecall.features.toolkits.table import TOOLKITS, ShippedToolkit
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.suggest.fuzzy_match import find_resembling


class InvalidToolkit(DefinitionError):
    """A toolkit that was named cannot be offered."""


def shipped_tools() -> Path:
    """Return the folder of the shipped tools: inside the package when installed, at the top of a checkout."""
    # No package can have this name, so installed tools are found by their path only.
    package = Path(__file__).parents[2]
    installed = package / "tools.d"
    return installed if installed.is_dir() else package.parents[1] / "tools"


def find_toolkit(name: str) -> ShippedToolkit:
    """Find a toolkit by its name.

    Raises:
        InvalidToolkit: There is none.
    """
    known = {toolkit.name: toolkit for toolkit in TOOLKITS}
    if name in known:
        return known[name]
    nearest = find_resembling(name, known)
    meant = f" Did you mean {nearest}?" if nearest else ""
    raise InvalidToolkit(f"There is no toolkit {name!r}.{meant} There are: {', '.join(sorted(known))}.")


def find_missing(toolkit: ShippedToolkit) -> str | None:
    """Return what is missing before a toolkit can be offered; None: nothing."""
    if not all(find_spec(module) is not None for module in toolkit.modules):
        return f"pip install 'sidecall[{toolkit.extra}]'"
    if toolkit.setting is not None and not os.environ.get(toolkit.setting):
        return f"set {toolkit.setting}"
    return None


def find_files(names: Iterable[str]) -> list[str]:
    """Return the files of the named toolkits.

    Raises:
        InvalidToolkit: A toolkit is unknown, or lacks something.
    """
    found = [find_toolkit(name) for name in dict.fromkeys(names)]
    for toolkit in found:
        lack = find_missing(toolkit)
        if lack is not None:
            raise InvalidToolkit(f"The toolkit {toolkit.name} cannot be offered: {lack}")
    return list(dict.fromkeys(str(shipped_tools() / f"{toolkit.file}.py") for toolkit in found))


def leave_out(files: Sequence[Path]) -> list[Path]:
    """Leave out the files of toolkits, which are offered only when named."""
    folder = shipped_tools().resolve()
    off = {folder / f"{toolkit.file}.py" for toolkit in TOOLKITS}
    return [file for file in files if file not in off]
