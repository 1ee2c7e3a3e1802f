"""The toolkits that ship, one small entry each; loads none of them."""

from dataclasses import dataclass

from sidecall.kernel.ports.sandbox import SandboxUse


@dataclass(frozen=True, slots=True)
class ShippedToolkit:
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
