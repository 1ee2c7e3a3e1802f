"""The limits this code base keeps: sizes, imports, layers, private names."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from tests.kit.sources import (
    EVERYTHING,
    MODULES,
    PACKAGE,
    ROOT,
    SOURCES,
    find_twins,
    floor_of,
    imports_of,
    layers,
    module_of,
    name_of,
    outline,
)

MAX_LINES = 500
MAX_BODY = 30
MAX_METHODS = 12
# Classes with more public methods, and why that is right.
WIDE: dict[str, str] = {
    "SqlApprovals": "each method is one step of an approval's life, in one statement",
}
# Models that are not built late, since authors derive theirs from them.
BUILT_AT_ONCE = {"BaseToolkit", "RetrieverInput", "InjectedByGraph", "_Injected"}
# What is private to other packages and touched outside server/, and why there is no other way.
REACHES = {
    ("app/sidecall/__init__.py", "sys._getframe"): "whether an import asks for a name; `inspect` would be loaded first",
    (
        "app/sidecall/kernel/core/tool.py",
        "inspect._ParameterKind",
    ): "the only name of the type of `Parameter.kind`",
}


def test_no_file_is_longer_than_500_lines() -> None:
    """A longer file holds two ideas."""
    lengths = {name_of(path): outline(path).lines for path in EVERYTHING}

    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_no_function_body_is_longer_than_30_lines() -> None:
    """Docstrings do not count."""
    lengths = [(name_of(path), name, lines) for path in EVERYTHING for name, lines in outline(path).bodies]

    assert [(path, name, lines) for path, name, lines in lengths if lines > MAX_BODY] == []


def test_no_class_has_more_than_12_public_methods() -> None:
    """A larger one is two; properties count."""
    classes = [(name, methods) for path in SOURCES for name, methods in outline(path).classes.items()]

    assert {name for name, methods in classes if len(methods) > MAX_METHODS} == set(WIDE)


def test_imports_stand_at_the_top() -> None:
    """An import inside a function hides a cycle; what is only for types, or loaded later, counts as any other."""
    assert [(name_of(path), line) for path in EVERYTHING for line in outline(path).imports_inside] == []


def test_what_is_imported_for_types_has_no_other_meaning_when_it_runs() -> None:
    """Below `if TYPE_CHECKING:` stand imports, and there is no `else:`."""
    twins = {name_of(path) for path in EVERYTHING if find_twins(path)}

    assert twins == set()


def test_no_modules_import_each_other_in_a_circle() -> None:
    """The graph of imports has an order, also where a text or a type is all that names a module."""
    graph = {module: imports_of(path) for module, path in MODULES.items()}

    order = list(TopologicalSorter(graph).static_order())

    assert set(order) == MODULES.keys()


def test_no_module_names_one_of_a_higher_layer() -> None:
    """Neither in an import nor in a text; import-linter sees only the first."""
    pairs = [(module, named) for module, path in MODULES.items() for named in imports_of(path)]

    up = [f"{module} -> {named}" for module, named in pairs if _points_up(floor_of(module), floor_of(named))]
    assert up == []


def _points_up(floor: int | None, other: int | None) -> bool:
    return floor is not None and other is not None and other < floor


def test_every_room_has_a_layer() -> None:
    """A package that no layer names is not held to any."""
    package = ROOT / "app/sidecall"
    folders = [path.parent for path in [*package.glob("*/__init__.py"), *package.glob("kernel/*/__init__.py")]]
    rooms = {module_of(folder / "__init__.py") for folder in folders} - {"sidecall.kernel"}

    assert rooms <= {name for layer in layers() for name in layer}


def test_nobody_inside_the_package_imports_its_root() -> None:
    """The root is for tool authors; it imports everything and would make a circle."""
    assert [name_of(path) for path in PACKAGE if "sidecall" in imports_of(path)] == []


def test_nobody_reaches_into_what_is_private_to_another_package() -> None:
    """It changes without notice; what the server needs of uvicorn is gathered in server/."""
    outside = [path for path in SOURCES if "server" not in path.parts]

    assert {(name_of(path), reach) for path in outside for reach in outline(path).reaches} == set(REACHES)


def test_models_are_built_when_they_are_needed() -> None:
    """Most servers need few of them; what authors derive theirs from is built with those."""
    texts = [(name_of(path), text) for path in PACKAGE if "BaseModel" in (text := path.read_text())]
    classes = [(name, it) for name, text in texts for it in ast.walk(ast.parse(text))]
    models = [
        (name, it) for name, it in classes if isinstance(it, ast.ClassDef) and "BaseModel" in map(ast.unparse, it.bases)
    ]

    built = {it.name for _, it in models if "defer_build" not in [keyword.arg for keyword in it.keywords]}
    assert built == BUILT_AT_ONCE


def test_the_layers_are_kept() -> None:
    """Imports point downward only, as pyproject.toml says."""
    linter = Path(sys.executable).parent / "lint-imports"

    result = subprocess.run([linter, "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert "0 broken" in result.stdout, result.stdout
