"""Join the scripts of the pages into few files, and leave out what only their authors read.

A browser asks for each file of a page alone, and a module waits for those that it imports. So modules that pages need
together come in one file, in which no name is given twice. Nothing is renamed or computed: what runs is what was
written.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from posixpath import dirname, normpath
from typing import NamedTuple

from rjsmin import jsmin

# Which modules a file has; every other module is a file of its own name. A name that ends in `/` is a folder's.
_TOGETHER: Mapping[str, tuple[str, ...]] = {
    "common.js": ("json.js", "dom.js", "console.js"),
    "api.js": ("api.js", "waits.js"),
    "form.js": ("form/",),
    "tool.js": ("arguments.js", "tool.js"),
    "trying.js": ("links.js", "texts.js", "form_submission.js", "snippets.js", "offering.js", "trying.js"),
    "answers.js": ("tree.js", "answers.js", "differences.js", "events.js"),
}
_IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
_LATER = re.compile(r'\bimport\("(\.[^"]+)"\)')
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)
_NAME = re.compile(r"\w+")


class Module(NamedTuple):
    """One script as it was written: its text without imports, what it imports from where, and what it exports.

    `later` are the modules that it imports when it wants them, with all that they export.
    """

    text: str
    imports: Sequence[tuple[Sequence[str], str]]
    exports: Sequence[str]
    later: Sequence[str]


def join(sources: Mapping[str, str]) -> Mapping[str, str]:
    """Return the files that are served, by their names, from all modules by theirs."""
    places = {name: _find_file(name) for name in sources}
    modules = {name: _read(name, text, places) for name, text in sources.items()}
    wanted = _find_wanted(modules, places)
    files: dict[str, list[str]] = {}
    for name in _sort(modules):
        files.setdefault(places[name], []).append(name)
    return {file: _write(file, [modules[it] for it in names], wanted, places) for file, names in files.items()}


def list_imports(text: str) -> list[str]:
    """List the files that a joined script asks for before it runs."""
    return re.findall(r'^import(?:\{[^}]*\}from)?"\./([^"]+)";$', text, re.MULTILINE)


@cache
def _find_file(name: str) -> str:
    folder = f"{dirname(name)}/"
    return next((file for file, members in _TOGETHER.items() if name in members or folder in members), name)


def _read(name: str, text: str, places: Mapping[str, str]) -> Module:
    found = [
        (_NAME.findall(names), normpath(f"{dirname(name)}/{at}").lstrip("/")) for names, at in _IMPORT.findall(text)
    ]
    later = [normpath(it) for it in _LATER.findall(text)]
    rest = _LATER.sub(lambda it: f'import("./{places[normpath(it[1])]}")', _IMPORT.sub("", text))
    return Module(_EXPORT.sub("", rest), found, _EXPORT.findall(text), later)


def _find_wanted(modules: Mapping[str, Module], places: Mapping[str, str]) -> frozenset[str]:
    """Return the names that a file has to export, since another one imports them."""
    found: set[str] = set()
    for name, module in modules.items():
        for imported, other in module.imports:
            found.update(imported if places[other] != places[name] else ())
        found.update(*(modules[it].exports for it in module.later))
    return frozenset(found)


def _sort(modules: Mapping[str, Module]) -> list[str]:
    """Return the names of modules, each behind those that it imports."""
    found: list[str] = []

    def visit(name: str) -> None:
        if name not in found:
            for _, other in modules[name].imports:
                visit(other)
            found.append(name)

    for name in sorted(modules):
        visit(name)
    return found


def _write(file: str, modules: Sequence[Module], wanted: Collection[str], places: Mapping[str, str]) -> str:
    imported: dict[str, set[str]] = {}
    for names, other in (it for module in modules for it in module.imports):
        if places[other] != file:
            imported.setdefault(places[other], set()).update(names)
    lines = [_import(sorted(names), other) for other, names in sorted(imported.items())]
    lines += [jsmin(module.text) for module in modules]
    exported = [it for module in modules for it in module.exports if it in wanted]
    return "\n".join([*lines, *([f"export{{{','.join(exported)}}};"] if exported else []), ""])


def _import(names: Sequence[str], file: str) -> str:
    return f'import{{{",".join(names)}}}from"./{file}";' if names else f'import"./{file}";'


def list_needed(files: Mapping[str, str], name: str) -> tuple[str, ...]:
    """List a joined script and those that it asks for, so that a page asks for all of them at once."""
    found: list[str] = []
    waiting: Iterable[str] = [name]
    while waiting:
        found += [it for it in dict.fromkeys(waiting) if it not in found]
        waiting = [it for known in found for it in list_imports(files[known]) if it not in found]
    return tuple(found)
