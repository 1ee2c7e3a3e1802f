"""Installed packages offer tools through entry points."""

import sys
from pathlib import Path

import pytest

from sidecall.kernel.core.errors import DefinitionError, DiscoveryError, InvalidToolName
from sidecall.loading.discovery import discover
from tests.kit.projects import KIT, names, tool_file, write

pytestmark = pytest.mark.usefixtures("here")


def install(package: str, module: str, text: str) -> None:
    """Install a package with an entry point, as pip does."""
    write(f"site/{module}.py", text)
    write(f"site/{package}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    write(f"site/{package}-1.0.dist-info/entry_points.txt", f"[sidecall.tools]\n{package} = {module}\n")
    sys.path.append(str(Path("site").resolve()))


def test_installed_packages_offer_tools() -> None:
    """Through the group `sidecall.tools`, after the places of the operator."""
    write("a.py", tool_file("of_a"))
    install("acme", "acme_tools", tool_file("of_acme"))

    assert names(discover(["a.py"], use_entry_points=True)) == ["of_a", "of_acme"]
    assert names(discover(["a.py"], use_entry_points=False)) == ["of_a"]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("acme_tools:one", ["one"]),
        ("acme_tools:kit", ["left", "right"]),
        ("acme_tools:all_of_them", ["one", "left", "right"]),
        ("acme_tools:one.name", []),
    ],
    ids=["tool", "toolkit", "list", "neither"],
)
def test_an_entry_point_may_name_one_object(target: str, found: list[str]) -> None:
    """A tool, a toolkit or a list of them; anything else is passed over."""
    install("acme", "acme_tools", f"{KIT}{tool_file('one')}\n\nall_of_them = [one, kit]\n")
    write("site/acme-1.0.dist-info/entry_points.txt", f"[sidecall.tools]\nacme = {target}\n")

    assert names(discover([], use_entry_points=True)) == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"), ("raise SystemExit(3)", "SystemExit: 3")],
)
def test_an_entry_point_that_fails_is_named(text: str, reason: str) -> None:
    """With the package that has to be mended or removed."""
    install("acme", "acme_tools", text)

    with pytest.raises(DiscoveryError) as caught:
        discover([], use_entry_points=True)

    assert caught.value.message == f"The entry point 'acme' of package 'acme' cannot be loaded: {reason}"


def test_an_entry_point_whose_tool_is_wrong_says_why() -> None:
    """The error of the tool says more than that of the entry point could."""
    install("acme", "acme_tools", tool_file("one").replace("@tool", '@tool("no name")'))

    with pytest.raises(InvalidToolName, match="tool 'no name': "):
        discover([], use_entry_points=True)


def test_an_entry_point_whose_option_is_wrong_says_why() -> None:
    """It is raised while the module is loaded."""
    install("acme", "acme_tools", tool_file("one").replace("@tool", "@tool(tiemout=3)"))

    with pytest.raises(DefinitionError, match="there is no option `tiemout`"):
        discover([], use_entry_points=True)
