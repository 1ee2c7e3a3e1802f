"""The toolkits that ship, one small entry each; loads none of them."""

import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.ports.sandbox import SandboxUse
from sidecall.kernel.suggest.fuzzy_match import find_resembling


class ShippedToolkit(Struct, frozen=True):
    """A toolkit that ships, switched on by its name.

    Attributes:
        name: The name in `SIDECALL_TOOLKITS`.
        file: Its file in `tools/`, without the extension.
        tools: The names of its tools.
        risk: The risk of switching it on, in one sentence.
        asks: Which calls need approval, in a few words.
        extra: The extra of Sidecall that it needs.
        modules: The modules of that extra.
        sandbox: Why it needs a sandbox.
        setting: The setting that it requires.
    """

    name: str
    file: str
    tools: str
    risk: str
    asks: str = "nothing"
    extra: str | None = None
    modules: tuple[str, ...] = ()
    sandbox: SandboxUse | None = None
    setting: str | None = None


TOOLKITS: tuple[ShippedToolkit, ...] = (
    ShippedToolkit(
        name="fetch",
        file="fetch",
        tools="web_fetch",
        risk="A page may hold instructions that the model follows, and an address may carry away what the model knows.",
        extra="fetch",
        modules=("html_to_markdown",),
    ),
    ShippedToolkit(
        name="files",
        file="files",
        tools="apply_patch, edit, glob, grep, ls, memory, read, str_replace_based_edit_tool, write",
        risk="A model may overwrite or garble files of its workspace, and believe what it reads there.",
        asks="deleting a file",
    ),
    ShippedToolkit(
        name="files-read-only",
        file="files_read_only",
        tools="read, glob, grep, ls",
        risk="Files of a workspace may hold instructions that the model follows.",
    ),
    ShippedToolkit(
        name="image_generation",
        file="images",
        tools="image_generation",
        risk="Prompts and images that the model names go to the service in SIDECALL_IMAGES_URL, which bills for it.",
        setting="SIDECALL_IMAGES_URL",
    ),
    ShippedToolkit(
        name="shell",
        file="shell",
        tools="shell, bash",
        risk="Programs of a model run on this machine, and only the kernel keeps them in their sandbox.",
        asks="all but the commands of SIDECALL_SHELL_ALLOW",
        sandbox="commands",
    ),
    ShippedToolkit(
        name="python",
        file="python",
        tools="run_python",
        risk="Code of a model runs here, by default in an interpreter that is young, and may delete files unasked.",
        sandbox="python",
    ),
    ShippedToolkit(
        name="file_search",
        file="file_search",
        tools="file_search",
        risk="A caller reads all files of its tenant's vector stores and all texts below "
        "SIDECALL_FILE_SEARCH_FOLDER, and these may hold instructions.",
    ),
)


class InvalidToolkit(DefinitionError):
    """A toolkit that was named cannot be offered."""


def shipped_tools() -> Path:
    """Return the folder of the shipped tools: inside the package when installed, at the top of a checkout."""
    # No package can have this name, so installed tools are found by their path only.
    package = Path(__file__).parents[1]
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
