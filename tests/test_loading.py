"""Modules are loaded by path under a name of their own, with imports that work."""

import json
import sys
from pathlib import Path

import pytest

from sidecall.core.errors import DiscoveryError, InvalidToolOption
from sidecall.loading import load_file, load_named, public_files, reloaded

pytestmark = pytest.mark.usefixtures("here")


def write(path: str, text: str = "") -> Path:
    """Write a file, and the folders above it."""
    file = Path(path).resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_file_is_loaded_under_its_name() -> None:
    """A second time it is the same module."""
    file = write("box/my_tools.py", "VALUE = 7")

    module = load_file(file)

    assert module.__name__ == "my_tools"
    assert module.VALUE == 7
    assert load_file(file) is module
    assert sys.modules["my_tools"] is module


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

    assert load_file(file).__name__ == "acme"


def test_what_lies_beside_a_file_can_be_imported() -> None:
    """As when Python runs the file."""
    write("box/beside.py", "VALUE = 7")
    file = write("box/my_tools.py", "from beside import VALUE")

    assert load_file(file).VALUE == 7


def test_what_lies_beside_a_file_shadows_nothing(here: Path) -> None:
    """The folder goes to the end of the path, once."""
    write("box/json.py", "raise RuntimeError('shadowed')")
    file = write("box/my_tools.py", "import json\nVALUE = json.dumps(7)")

    assert load_file(file).VALUE == "7"
    assert load_file(file).json is json
    assert sys.path[-1] == str(here / "box")
    assert sys.path.count(str(here / "box")) == 1


def test_a_file_whose_name_is_taken_is_loaded_under_an_alias() -> None:
    """The other module stays what it was."""
    file = write("box/json.py", "VALUE = 7")

    module = load_file(file)

    assert module.VALUE == 7
    assert module.__name__.startswith("sidecall_")
    assert module.__name__.endswith("_json")
    assert sys.modules["json"] is json
    assert load_file(file) is module


def test_two_files_of_one_name_are_two_modules() -> None:
    """In two folders."""
    one = write("one/same.py", "VALUE = 1")
    two = write("two/same.py", "VALUE = 2")

    assert (load_file(one).VALUE, load_file(two).VALUE) == (1, 2)


def test_relative_imports_work_in_a_package_whose_name_is_taken() -> None:
    """The whole package is loaded under the alias."""
    write("box/json/__init__.py", "ROOT = 1")
    write("box/json/shared.py", "VALUE = 7")
    file = write("box/json/search.py", "from .shared import VALUE\nfrom . import ROOT\n")

    module = load_file(file)

    assert (module.VALUE, module.ROOT) == (7, 1)
    assert module.__name__.endswith("_json.search")
    assert sys.modules["json"] is json


def test_a_file_in_a_package_whose_name_is_a_modules_is_loaded() -> None:
    """`string` is a module, so that no `string.search` can be found."""
    write("box/string/__init__.py")
    file = write("box/string/search.py", "VALUE = 7")

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
        ("def f():\n    1 / 0\n\nf()\n", ":2 cannot be loaded: ZeroDivisionError: division by zero"),
        ("import json\njson.loads('{')\n", ":2 cannot be loaded: JSONDecodeError: Expecting property name"),
    ],
    ids=["import", "syntax", "exit", "crash", "elsewhere"],
)
@pytest.mark.parametrize("name", ["box/broken.py", "box/json/broken.py"], ids=["name", "alias"])
def test_a_file_that_fails_is_named_with_the_line(name: str, text: str, complaint: str) -> None:
    """It is the author's own line, not one in a library; nothing half-loaded stays."""
    write("box/json/__init__.py")
    file = write(name, text)
    before = set(sys.modules)

    with pytest.raises(DiscoveryError) as caught:
        load_file(file)

    assert caught.value.message.startswith(f"{file}{complaint}")
    assert {module for module in set(sys.modules) - before if "broken" in module} == set()


def test_an_alias_that_fails_is_forgotten() -> None:
    """The next attempt loads the file afresh."""
    file = write("box/json.py", "raise RuntimeError")

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
    ],
)
def test_a_name_that_fails_is_named(name: str, complaint: str) -> None:
    """A module that is missing is told from one whose own import is."""
    write("broken.py", "import missing")
    write("exits.py", "raise SystemExit(3)")

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

    with reloaded([here / "box"]):
        fresh = load_file(file)

    assert fresh.VALUE == 2
    assert sys.modules["outside"] is outside


def test_the_old_modules_stay_when_the_new_ones_fail(here: Path) -> None:
    """Tools that import lazily still find what they knew."""
    file = write("box/my_tools.py", "VALUE = 1")
    old = load_file(file)
    file.write_text("VALUE = ")

    with pytest.raises(DiscoveryError), reloaded([here / "box"]):
        load_file(file)

    assert sys.modules["my_tools"] is old


def test_a_module_is_loaded_again_under_its_alias(here: Path) -> None:
    """A reloaded `json.py` is still not `json`."""
    file = write("box/json.py", "VALUE = 1")
    load_file(file)
    file.write_text("VALUE = 2")

    with reloaded([here / "box"]):
        fresh = load_file(file)

    assert fresh.VALUE == 2
    assert sys.modules["json"] is json


def test_sidecall_itself_is_never_reloaded() -> None:
    """Its classes must stay the same objects, though its folder may be watched."""
    before = sys.modules["sidecall.core.tool"]

    with reloaded([Path(str(before.__file__)).parents[2]]):
        during = sys.modules["sidecall.core.tool"]

    assert during is before
