"""Files of a folder of tools import each other, no matter what other folders hold."""

import builtins
import importlib
import json
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from sidecall.kernel.core.errors import DiscoveryError
from sidecall.loading.modules.loading import load_afresh, load_file
from tests.kit.projects import write

pytestmark = pytest.mark.usefixtures("here")

# How a file may import `VALUE` from what lies beside it.
STATEMENTS = {
    "relative": "from ._shared import VALUE",
    "relative module": "from . import _shared\nVALUE = _shared.VALUE",
    "plain": "from _shared import VALUE",
    "plain module": "import _shared\nVALUE = _shared.VALUE",
    "renamed": "import _shared as it\nVALUE = it.VALUE",
    "inside": "def value():\n    from _shared import VALUE\n    return VALUE\nVALUE = value()",
}
SPELLINGS = pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder outside of the project."""
    return tmp_path_factory.mktemp("elsewhere")


@SPELLINGS
@pytest.mark.parametrize("folder", [".", "box", "deep/box", "elsewhere"])
@pytest.mark.parametrize("is_package", [False, True], ids=["folder", "package"])
def test_a_file_imports_what_lies_beside_it(
    here: Path, elsewhere: Path, folder: str, is_package: bool, statement: str
) -> None:
    """With or without `__init__.py`, in the project or outside of it."""
    place = elsewhere if folder == "elsewhere" else here / folder
    if is_package and folder != ".":
        write(place / "__init__.py")
    write(place / "_shared.py", "VALUE = 7")

    assert load_file(write(place / "search.py", statement)).VALUE == 7


@SPELLINGS
@pytest.mark.parametrize("other", ["two", ".", "elsewhere", "one/inner"])
@pytest.mark.parametrize("is_package", [False, True], ids=["folder", "package"])
def test_each_folder_has_its_own(here: Path, elsewhere: Path, other: str, is_package: bool, statement: str) -> None:
    """Two files of one name are two modules, no matter which comes first, and as often as one looks."""
    places = [here / "one", elsewhere if other == "elsewhere" else here / other]
    for number, place in enumerate(places):
        if is_package and place != here:
            write(place / "__init__.py")
        write(place / "_shared.py", f"VALUE = {number}")
        write(place / "search.py", statement)

    files = [place / "search.py" for place in (*places, *reversed(places))]

    assert [load_file(file).VALUE for file in files] == [0, 1, 1, 0]


def test_however_it_is_imported_it_is_one_module() -> None:
    """What it counts is counted once."""
    write("box/_shared.py", "SEEN = []")
    lines = [
        "import _shared",
        "from . import _shared as other",
        "from _shared import SEEN",
        "import box._shared as long",
    ]
    module = load_file(write("box/search.py", "\n".join(lines)))

    assert module._shared is module.other is module.long
    assert module.SEEN is module._shared.SEEN


def test_what_is_beside_may_import_what_is_beside_it() -> None:
    """And a package beside it its own parts, and itself by name."""
    write("box/_first.py", "from _second import VALUE")
    write("box/_second.py", "from parts.words import VALUE")
    write("box/parts/__init__.py", "import parts.words")
    write("box/parts/words.py", "from .numbers import VALUE\nimport _third")
    write("box/parts/numbers.py", "VALUE = 7")
    write("box/_third.py")

    assert load_file(write("box/search.py", "from _first import VALUE")).VALUE == 7


def test_a_folder_without_init_file_beside_it_is_a_package() -> None:
    """Where it holds modules; one of other files is none."""
    write("box/_parts/words.py", "VALUE = 7")
    write("box/plans/list.csv")
    write("plans/__init__.py", "VALUE = 8")

    assert load_file(write("box/search.py", "from _parts.words import VALUE")).VALUE == 7
    assert load_file(write("box/plan.py", "from plans import VALUE")).VALUE == 8


@pytest.mark.parametrize(
    ("name", "expected"),
    [("json", json), ("time", time), ("pytest", pytest), ("sidecall", sys.modules["sidecall"])],
    ids=["library", "built in", "installed", "ours"],
)
@pytest.mark.parametrize("folder", ["box", "."])
def test_what_lies_beside_shadows_nothing(folder: str, name: str, expected: ModuleType) -> None:
    """A tool may bear the name of the package that it needs."""
    file = write(f"{folder}/{name}.py", f"import {name}")
    beside = write(f"{folder}/search.py", f"import {name}")

    assert getattr(load_file(file), name) is expected
    assert getattr(load_file(beside), name) is expected
    assert sys.modules[name] is expected


def test_another_folders_file_is_never_taken() -> None:
    """It is missing instead, with the line that asks for it."""
    write("one/_shared.py", "VALUE = 1")
    load_file(write("one/search.py", "import _shared"))
    file = write("two/search.py", "from _shared import VALUE")

    with pytest.raises(DiscoveryError) as caught:
        load_file(file)

    assert caught.value.message == f"{file}:1 cannot be loaded: ModuleNotFoundError: No module named '_shared'"


@pytest.mark.parametrize("name", ["nowhere", "other"])
def test_what_is_not_beside_is_missing_by_its_relative_name(name: str) -> None:
    """At the top of a project too, where Python knows no package."""
    write("other/__init__.py")
    file = write("search.py", f"from .{name}x import VALUE")

    with pytest.raises(DiscoveryError, match="attempted relative import with no known parent package"):
        load_file(file)


def test_the_projects_own_modules_can_be_imported() -> None:
    """From every folder of tools, and they import as they always do."""
    write("app/__init__.py")
    write("app/orders.py", "from .names import NAME\n\n\ndef find():\n    return NAME\n")
    write("app/names.py", "NAME = 'tea'")
    write("shared/numbers.py", "VALUE = 7")
    write("shared.txt")
    file = write("tools/search.py", "from app.orders import find\nfrom shared.numbers import VALUE\n")

    module = load_file(file)

    assert (module.find(), module.VALUE) == ("tea", 7)
    assert module.find.__globals__["__builtins__"] in (builtins, vars(builtins))


def test_the_nearest_folder_comes_before_the_project() -> None:
    """As for a script that Python runs."""
    write("shared.py", "VALUE = 1")
    write("tools/shared.py", "VALUE = 2")

    assert load_file(write("tools/search.py", "from shared import VALUE")).VALUE == 2
    assert load_file(write("other/search.py", "from shared import VALUE")).VALUE == 1


@SPELLINGS
def test_what_lies_beside_is_loaded_afresh_too(here: Path, statement: str) -> None:
    """Of its own folder alone; and what was not there before is found."""
    two = [write(f"{folder}/_shared.py", f"VALUE = '{folder}'") for folder in ("one", "two")]
    files = [write(f"{folder}/search.py", statement) for folder in ("one", "two")]
    before = [load_file(file) for file in files]
    two[1].write_text("VALUE = 'new'")
    new = write("one/_new.py", "VALUE = 8")

    with load_afresh([here / "two"]):
        after = [load_file(file) for file in files]
    files[0].write_text("from _new import VALUE")
    with load_afresh([here / "one"]):
        found = load_file(files[0])

    assert [module.VALUE for module in after] == ["one", "new"]
    assert after[0] is before[0]
    assert found.VALUE == 8
    assert Path(str(sys.modules["one._new"].__file__)) == new


def test_functions_see_the_built_ins(here: Path) -> None:
    """And what they define is found by its module's name, as by pickle."""
    text = "class Point:\n    pass\n\n\ndef longest(texts):\n    return max(len(text) for text in texts), __import__\n"
    module = load_file(write("box/search.py", text))

    assert module.longest(["a", "bb"])[0] == 2
    assert importlib.import_module(module.Point.__module__).Point is module.Point
