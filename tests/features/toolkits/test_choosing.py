"""Toolkits are off until they are named, and one that cannot work stops the start."""

import subprocess
import sys
from pathlib import Path

import pytest

from sidecall.loading import toolkits as table
from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import (
    TOOLKITS,
    InvalidToolkit,
    ShippedToolkit,
    find_files,
    find_missing,
    shipped_tools,
)
from sidecall.settings import Settings
from tests.kit.projects import names

LACKING = ShippedToolkit("lacking", "fetch", "none", "It does not run.", extra="nowhere", modules=("no_such_module",))
# Serve as an operator does who names no toolkit, and print which of their modules were loaded.
SERVE = """
import sys
from sidecall.main import create_app
from sidecall.loading.toolkits import shipped_tools
from sidecall.loading.toolkits import TOOLKITS
create_app()
loaded = {getattr(module, "__file__", None) for module in sys.modules.values()}
needed = {name.partition(".")[0] for name in sys.modules}
files = {it.name: str(shipped_tools() / f"{it.file}.py") for it in TOOLKITS}
print([it.name for it in TOOLKITS if files[it.name] in loaded or needed & set(it.modules)])
"""


@pytest.mark.parametrize("toolkit", TOOLKITS, ids=lambda it: it.name)
def test_an_entry_is_true(toolkit: ShippedToolkit) -> None:
    """There is the file with these tools, its risk is a sentence, and its extra is one of Sidecall's."""
    offered = names(discover([str(shipped_tools() / f"{toolkit.file}.py")]))

    assert ", ".join(offered) == toolkit.tools
    assert toolkit.risk.endswith(".")
    assert bool(toolkit.extra) == bool(toolkit.modules)


def test_nothing_of_a_toolkit_is_loaded_when_it_is_off() -> None:
    """Neither its file nor what its extra installs."""
    result = subprocess.run([sys.executable, "-c", SERVE], capture_output=True, text=True, check=True)

    assert result.stdout == "[]\n"


@pytest.mark.usefixtures("here")
def test_a_toolkit_that_is_named_is_offered_beside_the_tools() -> None:
    """Once, however often it is named."""
    settings = Settings(tools=("sidecall.calculator", "sidecall.fetch"), toolkits=("fetch", "fetch"))

    assert names(discover(settings.places)) == ["calculator", "web_fetch"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fetsh", "There is no toolkit 'fetsh'. Did you mean fetch? There are: "),
        ("Fetch", "There is no toolkit 'Fetch'. Did you mean fetch? There are: "),
        ("weather", "There is no toolkit 'weather'. There are: "),
    ],
)
def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """With those that there are, in the environment too."""
    known = ", ".join(sorted(toolkit.name for toolkit in TOOLKITS))
    with pytest.raises(InvalidToolkit) as caught:
        find_files([name])
    assert caught.value.message == f"{text}{known}."
    monkeypatch.setenv("SIDECALL_TOOLKITS", name)
    with pytest.raises(ValueError, match=text.partition(".")[0]):
        Settings()


def test_a_toolkit_without_its_extra_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setattr(table, "TOOLKITS", (LACKING,))

    assert find_missing(LACKING) == "pip install 'sidecall[nowhere]'"
    with pytest.raises(InvalidToolkit) as caught:
        find_files(["lacking"])
    assert caught.value.message == "The toolkit lacking cannot be offered: pip install 'sidecall[nowhere]'"


def test_a_toolkit_whose_setting_is_missing_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator is told what to set."""
    monkeypatch.delenv("SIDECALL_IMAGES_URL", raising=False)
    with pytest.raises(InvalidToolkit, match="image_generation cannot be offered: set SIDECALL_IMAGES_URL"):
        find_files(["image_generation"])

    monkeypatch.setenv("SIDECALL_IMAGES_URL", "https://images.example.com/v1")
    assert [Path(file).name for file in find_files(["image_generation"])] == ["images.py"]
