"""The project's own source files, read as syntax trees for the tests of its structure."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("app", "tools", "examples", "bench")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PACKAGE = [path for path in SOURCES if path.is_relative_to(ROOT / "app")]
RECORDED = ("_cases.py", "_compare.py")  # of other systems, kept as they were recorded
TESTS = sorted(
    path for folder in ("tests", "trials") for path in (ROOT / folder).rglob("*.py") if not path.name.endswith(RECORDED)
)
EVERYTHING = [*SOURCES, *TESTS]
# A module by its full name, alone or with what is meant in it, as entry points and `uvicorn` write it.
_NAMED = re.compile(r"sidecall(?:\.\w+)+(?=:[\w.]+$|$)")
_ALIAS = re.compile(r"[A-Z]\w*[a-z]\w*")

# Documented despite the underscore.
_PUBLISHED = frozenset(("os._exit", "sys._getframe"))

Function = ast.FunctionDef | ast.AsyncFunctionDef
Import = ast.Import | ast.ImportFrom


def name_of(path: Path) -> str:
    """Return the path of a file from the root of the repository."""
    return str(path.relative_to(ROOT))


def module_of(path: Path) -> str:
    """Return the name by which a source file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "app" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


@dataclass(frozen=True)
class Outline:
    """What the rules look at; the trees of all files would not fit into memory.

    `reaches` are the private names of imported packages that a file uses, `strings` its texts without docstrings.
    """

    lines: int
    bodies: list[tuple[str, int]]
    imports: list[Import]
    imports_inside: list[int]
    names: set[str]
    strings: set[str]
    classes: dict[str, set[str]]
    types: set[str]
    functions: dict[str, bool]
    docstrings: list[str]
    reaches: set[str]


@cache
def outline(path: Path) -> Outline:
    """Read a file once."""
    text = path.read_text()
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, Function)]
    documented = [node for node in nodes if isinstance(node, Function | ast.ClassDef | ast.Module)]
    imports = _imports_in(nodes)
    return Outline(
        lines=len(text.splitlines()),
        bodies=[(function.name, _body_lines(function)) for function in functions],
        imports=imports,
        imports_inside=[node.lineno for function in functions for node in _imports_in(ast.walk(function))],
        names=set(_names_in(nodes)),
        strings=set(_strings_in(nodes)),
        classes={node.name: set(_public_methods(node)) for node in nodes if isinstance(node, ast.ClassDef)},
        types=set(_types_in(tree)),
        functions={node.name: _makes_context(node) for node in tree.body if isinstance(node, Function)},
        docstrings=[docstring for node in documented if (docstring := ast.get_docstring(node)) and not _is_tool(node)],
        reaches=set(_reaches(imports, nodes)),
    )


def _names_in(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _imports_in(nodes: Iterable[ast.AST]) -> list[Import]:
    return [node for node in nodes if isinstance(node, Import)]


def _body_lines(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body and body[-1].end_lineno else 0


def _strings_in(nodes: list[ast.AST]) -> Iterator[str]:
    # A text that is a statement of its own is a docstring.
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def _public_methods(node: ast.ClassDef) -> Iterator[str]:
    return (part.name for part in node.body if isinstance(part, Function) and not part.name.startswith("_"))


def _types_in(tree: ast.Module) -> Iterator[str]:
    """Name the classes and the aliases of types that a module defines for others."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name) and _ALIAS.fullmatch(target.id))


def _makes_context(function: Function) -> bool:
    return any("contextmanager" in ast.unparse(decorator) for decorator in function.decorator_list)


def _is_tool(node: ast.AST) -> bool:
    """Return whether a docstring is for models to read."""
    return any(ast.unparse(decorator).startswith("tool") for decorator in getattr(node, "decorator_list", ()))


def _reaches(imports: list[Import], nodes: list[ast.AST]) -> Iterator[str]:
    """Name what is private to other packages: modules, names in modules, and attributes of both."""
    bound: dict[str, str] = {}
    for statement in imports:
        for alias in statement.names:
            origin = alias.name if isinstance(statement, ast.Import) else f"{statement.module or ''}.{alias.name}"
            if is_foreign(statement, origin):
                bound[alias.asname or alias.name.partition(".")[0]] = origin
                if any(map(_is_private, origin.split("."))):
                    yield origin
    for node in nodes:
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            root = ast.unparse(node.value).partition(".")[0]
            if root in bound and f"{bound[root]}.{node.attr}" not in _PUBLISHED:
                yield f"{bound[root]}.{node.attr}"


def is_foreign(node: Import, origin: str) -> bool:
    """Return whether an import is of another distribution, the standard library included."""
    return not getattr(node, "level", 0) and origin.partition(".")[0] not in ("sidecall", "tools", "bench", "tests")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def imports_of(path: Path) -> set[str]:
    """Return the modules of this project that a file imports, even conditionally or by name in a text."""
    found: set[str] = set()
    for node in outline(path).imports:
        if isinstance(node, ast.ImportFrom):
            origin = _origin(path, node)
            found |= {origin, *(f"{origin}.{alias.name}" for alias in node.names)}
        else:
            found |= {alias.name for alias in node.names}
    return (found | named_in_strings(path)) & MODULES.keys() - {module_of(path)}


def _origin(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module_of(path).split(".") if path.name == "__init__.py" else module_of(path).split(".")[:-1]
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def named_in_strings(path: Path) -> set[str]:
    """Return the modules of the package that a file names in texts, as `import_module` and `-m` want them."""
    found = (_NAMED.match(text) for text in outline(path).strings)
    return {match[0] for match in found if match} & MODULES.keys()


def find_twins(path: Path) -> list[str]:
    """Return what a file names twice: for types, and once more for when it runs."""
    if "TYPE_CHECKING" not in outline(path).names:
        return []
    tests = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.If)]
    return [ast.unparse(one) for node in tests if ast.unparse(node.test) == "TYPE_CHECKING" for one in node.orelse]


@cache
def layers() -> list[list[str]]:
    """Return the layers of the package from the top down, as pyproject.toml names them for import-linter."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (names,) = (contract["layers"] for contract in contracts if contract["name"] == "imports point downward")
    return [[name.strip() for name in re.split("[|:]", layer)] for layer in names]


def floor_of(module: str) -> int | None:
    """Return the number of a module's layer from the top, or None for those without one."""
    for number, names in enumerate(layers()):
        if any(module == name or module.startswith(f"{name}.") for name in names):
            return number
    return None
