"""The project's modules come after the standard library and before what is installed."""

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from sidecall.loading.modules.import_path import is_on_path, put_project

LIBRARY = os.path.dirname(os.__file__)
DYNAMIC = f"{LIBRARY}/lib-dynload"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([LIBRARY, DYNAMIC, "/site"], [LIBRARY, DYNAMIC, "{here}", "/site"]),
        (["/bin", LIBRARY, DYNAMIC, "/site"], ["/bin", LIBRARY, DYNAMIC, "{here}", "/site"]),
        (["{here}", LIBRARY, DYNAMIC, "/site"], [LIBRARY, DYNAMIC, "{here}", "/site"]),
        (["", LIBRARY, "/site", "{here}"], [LIBRARY, "{here}", "/site"]),
        ([LIBRARY, f"{LIBRARY}/site-packages"], [LIBRARY, "{here}", f"{LIBRARY}/site-packages"]),
        (["/site"], ["{here}", "/site"]),
    ],
)
def test_the_project_comes_between(
    here: Path, monkeypatch: pytest.MonkeyPatch, before: list[str], after: list[str]
) -> None:
    """Once, wherever it was before."""
    monkeypatch.setattr(sys, "path", [entry.format(here=here) for entry in before])

    put_project(str(here))

    assert sys.path == [entry.format(here=here) for entry in after]


def test_the_order_holds_for_this_python(here: Path) -> None:
    """No matter what it calls the folders of its library."""
    put_project(str(here))

    place = sys.path.index(str(here))
    assert sys.path.index(sysconfig.get_path("stdlib")) < place < sys.path.index(sysconfig.get_path("purelib"))


@pytest.mark.parametrize(("entries", "expected"), [([], False), (["/else"], False), ([""], True), (["{here}"], True)])
def test_a_folder_on_the_path_is_known(
    here: Path, monkeypatch: pytest.MonkeyPatch, entries: list[str], expected: bool
) -> None:
    """The empty text is the working directory."""
    monkeypatch.setattr(sys, "path", [entry.format(here=here) for entry in entries])

    assert is_on_path(str(here)) is expected
