"""Modules are loaded by path under a name of their own, with imports that work."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

from sidecall.kernel.core.errors import DiscoveryError, InvalidToolOption
from sidecall.loading.modules.loading import load_afresh, load_file, load_named, public_files
from tests.kit.projects import write

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("path", "name"), [("my_tools.py", "my_tools"), ("box/my_tools.py", "box.my_tools"), ("a/b/c.py", "a.b.c")]
)
def test_a_file_is_loaded_under_its_name_in_the_project(path: str, name: str) -> None:
    """It is the same module a second time, and for each that imports it."""
    file = write(path, "VALUE = 7")

    module = load_file(file)

    assert module.__name__ == name
    assert module.VALUE == 7
    assert load_file(file) is module
    assert importlib.import_module(name) is module


def test_a_file_of_another_folder_is_a_part_of_a_package_of_its_own(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Nobody else has its name, and nothing of its folder can be imported by others."""
    folder = tmp_path_factory.mktemp("else.where")
    file = write(str(folder / "my_tools.py"), "VALUE = 7")
    before = [*sys.path]

    module = load_file(file)

    assert re.fullmatch(r"sidecall_[0-9a-f]{8}_else_where0\.my_tools", module.__name__)
    assert module.VALUE == 7
    assert load_file(file) is module
    assert [entry for entry in sys.path if entry not in before] == [str(Path.cwd())]


def test_a_file_in_a_package_is_loaded_under_its_dotted_name() -> None:
    """So that its relative imports work."""
    write("acme/__init__.py", "ROOT = 1")
    write("acme/web/__init__.py")
    write("acme/web/shared.py", "VALUE = 7")
    file = write("acme/web/search.py", "from . import shared\nfrom .. import ROOT\nfrom acme.web.shared import VALUE\n")

    module = load_file(file)

    assert module.__name__ == "acme.web.search"
    assert (module.VALUE, module.ROOT, module.shared.VALUE) == (7, 1, 7)


def test_a_package_is_loaded_by_its_init_file() -> None:
    """Its name is that of the folder."""
    file = write("box/acme/__init__.py", "VALUE = 7")

    assert load_file(file).__name__ == "box.acme"


def test_a_file_on_the_path_of_imports_has_the_name_that_it_has_there() -> None:
    """So that a package which is installed is not loaded twice."""
    file = write("lib/acme/web.py", "VALUE = 7")
    sys.path.append(str(Path("lib").resolve()))

    assert load_file(file) is importlib.import_module("acme.web")


def test_a_file_whose_name_is_taken_is_loaded_under_an_alias() -> None:
    """The other module stays what it was."""
    file = write("json.py", "VALUE = 7")

    module = load_file(file)

    assert module.VALUE == 7
    assert module.__name__.startswith("sidecall_")
    assert module.__name__.endswith(".json")
    assert sys.modules["json"] is json
    assert load_file(file) is module


def test_two_files_of_one_name_are_two_modules() -> None:
    """In two folders."""
    one = write("one/same.py", "VALUE = 1")
    two = write("two/same.py", "VALUE = 2")

    assert (load_file(one).VALUE, load_file(two).VALUE) == (1, 2)


def test_relative_imports_work_in_a_package_whose_name_is_taken() -> None:
    """The whole package is loaded under the alias."""
    write("json/__init__.py", "ROOT = 1")
    write("json/shared.py", "VALUE = 7")
    file = write("json/search.py", "from .shared import VALUE\nfrom . import ROOT\n")

    module = load_file(file)

    assert (module.VALUE, module.ROOT) == (7, 1)
    assert module.__name__.startswith("sidecall_")
    assert module.__name__.endswith(".json.search")
    assert sys.modules["json"] is json


def test_a_file_in_a_package_whose_name_is_a_modules_is_loaded() -> None:
    """`string` is a module, so that no `string.search` can be found."""
    write("string/__init__.py")
    file = write("string/search.py", "VALUE = 7")

    assert load_file(file).VALUE == 7


def test_a_file_with_a_name_that_cannot_be_imported_is_loaded() -> None:
    """The file name of a script may hold anything."""
    file = write("box/my-tools.v2.py", "VALUE = 7")

    assert load_file(file).VALUE == 7


@pytest.mark.parametrize("beside", ["other.py", "tools.py"])
def test_a_file_that_is_no_python_is_refused(beside: str) -> None:
    """By its own name, and no other file is loaded for it."""
    write(f"box/{beside}", "VALUE = 7")
    file = write("box/tools.txt", "VALUE = 8")

    with pytest.raises(DiscoveryError) as caught:
        load_file(file)

    assert caught.value.message == f"{file} is not a Python file."


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\nimport nowhere\n", ":2 cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
        ("def x(:\n", ":1 cannot be loaded: SyntaxError: invalid syntax (broken.py, line 1)"),
        ("\n\nraise SystemExit(3)\n", ":3 cannot be loaded: SystemExit: 3"),
        ("raise KeyboardInterrupt", ":1 cannot be loaded: KeyboardInterrupt: "),
        ("def f():\n    1 / 0\n\nf()\n", ":2 cannot be loaded: ZeroDivisionError: division by zero"),
        ("import json\njson.loads('{')\n", ":2 cannot be loaded: JSONDecodeError: Expecting property name"),
    ],
    ids=["import", "syntax", "exit", "interrupt", "crash", "elsewhere"],
)
@pytest.mark.parametrize("name", ["box/broken.py", "json/broken.py"], ids=["name", "alias"])
def test_a_file_that_fails_is_named_with_the_line(name: str, text: str, complaint: str) -> None:
    """It is the author's own line, not one in a library; nothing half-loaded stays."""
    write("json/__init__.py")
    file = write(name, text)
    before = set(sys.modules)

    with pytest.raises(DiscoveryError) as caught:
        load_file(file)

    assert caught.value.message.startswith(f"{file}{complaint}")
    assert {module for module in set(sys.modules) - before if "broken" in module} == set()


def test_an_alias_that_fails_is_forgotten() -> None:
    """The next attempt loads the file afresh."""
    file = write("json.py", "raise RuntimeError")

    with pytest.raises(DiscoveryError):
        load_file(file)
    file.write_text("VALUE = 'mended and longer'")

    assert load_file(file).VALUE == "mended and longer"


def test_an_error_of_a_definition_is_passed_on() -> None:
    """It names file and tool itself."""
    file = write("a.py", "from sidecall import tool\n\n@tool(tiemout=3)\ndef slow() -> str:\n    return ''\n")

    with pytest.raises(InvalidToolOption, match=r"a\.py:3: tool 'slow': there is no option `tiemout`"):
        load_file(file)


def test_a_module_is_loaded_by_name() -> None:
    """From the working directory too, which an installed program does not have on its path."""
    write("my_tools.py", "VALUE = 7")

    assert [module.VALUE for module in load_named("my_tools")] == [7]
    assert [module.VALUE for module in load_named("my_tools")] == [7]


def test_a_package_is_loaded_with_its_public_modules() -> None:
    """Its own file comes first."""
    write("acme/__init__.py")
    write("acme/b.py")
    write("acme/a.py")
    write("acme/_private.py", "raise RuntimeError")

    modules = [module.__name__ for module in load_named("acme")]

    assert modules == ["acme", "acme", "acme.a", "acme.b"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "nowhere",
            "There is no module, file or folder 'nowhere'. Give a path such as ./my_tools.py, or install it.",
        ),
        ("broken", "broken cannot be loaded: ModuleNotFoundError: No module named 'missing'"),
        ("exits", "exits cannot be loaded: SystemExit: 3"),
        ("stops", "stops cannot be loaded: KeyboardInterrupt: "),
    ],
)
def test_a_name_that_fails_is_named(name: str, complaint: str) -> None:
    """A module that is missing is told from one whose own import is."""
    write("broken.py", "import missing")
    write("exits.py", "raise SystemExit(3)")
    write("stops.py", "raise KeyboardInterrupt")

    with pytest.raises(DiscoveryError) as caught:
        list(load_named(name))

    assert caught.value.message == complaint


def test_public_files_are_in_order(here: Path) -> None:
    """Modules and packages by name."""
    wanted = [write("c.py"), write("a.py"), write("b/__init__.py")]
    write("_x.py")
    write("__main__.py")
    write("test_a.py")
    write("tests/__init__.py")
    write("conftest.py")
    write("plain/a.py")
    write("a.pyi")

    assert public_files(here) == [wanted[1], wanted[2], wanted[0]]


def test_reloaded_modules_are_loaded_afresh(here: Path) -> None:
    """Saved twice in one second and with the same size, too."""
    file = write("box/my_tools.py", "VALUE = 1")
    outside = load_file(write("outside.py", "VALUE = 1"))
    load_file(file)
    file.write_text("VALUE = 2")

    with load_afresh([here / "box"]):
        fresh = load_file(file)

    assert fresh.VALUE == 2
    assert sys.modules["outside"] is outside


def test_the_old_modules_stay_when_the_new_ones_fail(here: Path) -> None:
    """Tools that import lazily still find what they knew."""
    file = write("box/my_tools.py", "VALUE = 1")
    old = load_file(file)
    file.write_text("VALUE = ")

    with pytest.raises(DiscoveryError), load_afresh([here / "box"]):
        load_file(file)

    assert sys.modules["box.my_tools"] is old
    assert sys.modules["box"].my_tools is old


def test_a_module_is_loaded_again_under_its_alias(here: Path) -> None:
    """A reloaded `json.py` is still not `json`."""
    file = write("json.py", "VALUE = 1")
    load_file(file)
    file.write_text("VALUE = 2")

    with load_afresh([here]):
        fresh = load_file(file)

    assert fresh.VALUE == 2
    assert sys.modules["json"] is json


def test_sidecall_itself_is_never_reloaded() -> None:
    """Its classes must stay the same objects, though its folder may be watched."""
    before = sys.modules["sidecall.kernel.core.tool"]

    with load_afresh([Path(str(before.__file__)).parents[2]]):
        during = sys.modules["sidecall.kernel.core.tool"]

    assert during is before
