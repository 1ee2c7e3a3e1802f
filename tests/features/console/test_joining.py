"""Scripts of pages come in few files, without what only their authors read, and do what was written."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rjsmin import jsmin

from sidecall.features.console import scripts
from sidecall.features.console.render import list_modules, write_file
from tests.kit.sources import ROOT

STATIC = ROOT / "app/sidecall/features/console/static"
SOURCES = {path.relative_to(STATIC).as_posix(): path.read_text() for path in sorted(STATIC.rglob("*.js"))}
FILES = scripts.join(SOURCES)
# They begin a line, or stand behind a statement.
_COMMENT = re.compile(r"^ *//[^\n]*|^ */\*\*.*?\*/|(?<=[;{]) // [^\n]*", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_nothing_but_comments_and_space_is_left_out(name: str) -> None:
    """By the library that does it; where a line ends a statement, it goes on ending it."""
    told = _COMMENT.sub("", SOURCES[name])

    assert "".join(jsmin(SOURCES[name]).split()) == "".join(told.split())


def test_modules_that_belong_together_are_one_file() -> None:
    """What it needs of other files it imports once, and what others need it exports."""
    sources = {
        "json.js": "// It.\nconst own = 1;\nexport const parse = () => own;\nexport const unused = 3;\n",
        "dom.js": 'import { parse } from "./json.js";\nconst other = 2;\nexport const make = () => parse() + other;\n',
        "page.js": 'import { make } from "./dom.js";\nimport { parse } from "./json.js";\nmake(parse());\n',
        "tree.js": 'import { make } from "./dom.js";\nexport class Tree {}\nmake();\n',
        "tool.js": 'const tree = () => import("./tree.js");\ntree();\n',
    }

    found = scripts.join(sources)

    assert sorted(found) == ["answers.js", "common.js", "page.js", "tool.js"]
    assert found["common.js"] == (
        "const own=1;const parse=()=>own;const unused=3;\n"
        "const other=2;const make=()=>parse()+other;\n"
        "export{parse,make};\n"
    )
    assert found["page.js"] == 'import{make,parse}from"./common.js";\nmake(parse());\n'
    assert found["tool.js"] == 'const tree=()=>import("./answers.js");tree();\n'
    assert found["answers.js"].endswith("export{Tree};\n")


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_is_a_module_that_is_understood(name: str, tmp_path: Path) -> None:
    """By another reader of JavaScript, where there is one; and every file that it asks for is there."""
    assert set(scripts.list_needed(FILES, name)) <= set(FILES)
    assert set(re.findall(r'import\("\./([^"]+)"\)', FILES[name])) <= set(FILES)
    node = shutil.which("node")
    if node is not None:
        (tmp_path / "it.mjs").write_text(FILES[name])
        subprocess.run([node, "--check", tmp_path / "it.mjs"], check=True)


@pytest.mark.parametrize(
    ("entry", "sheets", "most"),
    [
        ("tool.js", ["form.css"], 18_000),
        ("approval.js", ["form.css"], 18_000),
        ("call.js", ["answers.css", "lists.css"], 14_000),
    ],
)
def test_what_a_page_asks_for_is_small(entry: str, sheets: list[str], most: int) -> None:
    """Its scripts and sheets as they are sent."""
    sent = [write_file(f"x/{name}", is_packed=True) for name in (*list_modules(entry), "console.css", *sheets)]

    assert sum(len(it.body) for it in sent if it is not None) <= most
    assert all(gzip.decompress(bytes(it.body)) for it in sent if it is not None)
