"""What cannot be loaded while a server runs is loaded later, or says that the server has to be restarted."""

import errno
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import sidecall
from sidecall.http.changed_installation import InstallationGuard
from sidecall.kernel.core.overload import PartUnavailable
from tests.kit.projects import write

CHANGED = "The installation has changed since the server started; restart it."
# Needs itself as a package, which Python puts a module into at its first import only.
PACKAGE = f"""
import os
import half_there.part

if not os.path.exists({{enough!r}}):
    raise OSError({errno.EMFILE}, "Too many open files")

told = half_there.part.told
"""


@pytest.fixture
def finder(tmp_path: Path) -> Iterator[InstallationGuard]:
    """Give one that finds modules of this package in the folder `rooms`, too, with a mark of its own."""
    mark = write(tmp_path / "version.py", "1")
    finder = InstallationGuard(mark)
    before = {*sys.modules}
    sys.meta_path.insert(0, finder)
    sidecall.__path__.append(str(tmp_path / "rooms"))
    sys.path.append(str(tmp_path / "libraries"))
    yield finder
    sys.path.remove(str(tmp_path / "libraries"))
    sidecall.__path__.remove(str(tmp_path / "rooms"))
    sys.meta_path.remove(finder)
    for name in {*sys.modules} - before:
        del sys.modules[name]


def test_what_was_half_loaded_when_files_ran_out_is_loaded_anew(
    finder: InstallationGuard, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With the packages that it needs, of which nothing is left."""
    enough = tmp_path / "enough"
    write(tmp_path / "libraries" / "half_there" / "__init__.py", PACKAGE.format(enough=str(enough)))
    write(tmp_path / "libraries" / "half_there" / "part.py", "told = 3\n")
    write(tmp_path / "rooms" / "late_room.py", "from half_there import told\n")

    with pytest.raises(PartUnavailable) as refused:
        import_module("sidecall.late_room")
    left = [name for name in sys.modules if name.startswith(("sidecall.late_room", "half_there"))]
    enough.touch()

    assert (refused.value.retry_after, left) == (5, [])
    assert import_module("sidecall.late_room").told == 3
    assert finder.trouble is None
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("raised", ['OSError(2, "No such file")', 'ImportError("an extra is missing")'])
def test_other_errors_of_a_module_are_its_own(finder: InstallationGuard, tmp_path: Path, raised: str) -> None:
    """They do not pass."""
    write(tmp_path / "rooms" / "late_room.py", f"raise {raised}\n")

    with pytest.raises((OSError, ImportError), match=r"No such file|an extra is missing"):
        import_module("sidecall.late_room")


@pytest.mark.parametrize("how", ["removed", "replaced", "written anew"])
def test_nothing_is_loaded_of_another_installation(
    finder: InstallationGuard, tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    """Modules of two versions do not fit each other; what is loaded goes on, and one line says what to do."""
    mark, aside = tmp_path / "version.py", tmp_path / "aside"
    for name in ("late_room", "other_room", "third_room"):
        write(tmp_path / "rooms" / f"{name}.py", "told = 3\n")
    loaded = import_module("sidecall.late_room")
    before = finder.trouble
    mark.rename(aside)
    if how == "replaced":
        write(mark, "1")
    elif how == "written anew":
        aside.rename(mark)
        os.utime(mark, ns=(1, 1))

    unasked = finder.trouble
    for name in ("other_room", "third_room"):
        with pytest.raises(PartUnavailable, match="The installation has changed") as refused:
            import_module(f"sidecall.{name}")

    assert (before, unasked, finder.trouble) == (None, None, CHANGED)
    assert (refused.value.message, refused.value.retry_after) == (CHANGED, 60)
    assert [it.message for it in caplog.records] == [f"sidecall.other_room cannot be loaded. {CHANGED}"]
    assert import_module("sidecall.late_room") is loaded


def test_an_installation_that_is_back_is_used(finder: InstallationGuard, tmp_path: Path) -> None:
    """As where a disk was away for a moment."""
    mark, aside = tmp_path / "version.py", tmp_path / "aside"
    write(tmp_path / "rooms" / "late_room.py", "told = 3\n")
    mark.rename(aside)
    with pytest.raises(PartUnavailable):
        import_module("sidecall.late_room")
    aside.rename(mark)

    assert finder.trouble is None
    assert import_module("sidecall.late_room").told == 3


def test_a_library_that_is_gone_with_the_installation_is_told_of(finder: InstallationGuard, tmp_path: Path) -> None:
    """Where a whole environment was removed; otherwise its lack is a defect."""
    missing = ModuleNotFoundError("No module named 'yaml'", name="yaml")
    before = finder.explain(missing)
    (tmp_path / "version.py").unlink()

    refused = finder.explain(missing)

    assert before is None
    assert refused is not None
    assert (refused.message, finder.trouble) == (CHANGED, CHANGED)
    assert finder.explain(ValueError("of another kind")) is None


def test_where_nothing_can_be_looked_at_nothing_is_refused(tmp_path: Path) -> None:
    """As in an archive."""
    finder = InstallationGuard(tmp_path / "archive.zip" / "version.py")

    assert finder.explain(ImportError()) is None
    assert finder.find_spec("sidecall.lazy_imports", sidecall.__path__) is not None
    assert finder.find_spec("json.tool") is None
