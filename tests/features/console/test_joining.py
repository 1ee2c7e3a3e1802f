"""Scripts of pages come in few files, without what only their authors read, and do what was written."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sidecall.features.console import scripts
from sidecall.features.console.render import list_modules, write_file
from tests.kit.sources import ROOT

STATIC = ROOT / "app/sidecall/features/console/static"
SOURCES = {path.relative_to(STATIC).as_posix(): path.read_text() for path in sorted(STATIC.rglob("*.js"))}
FILES = scripts.join(SOURCES)


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("// words\nconst a = 1; // more\n", "const a=1;"),
        ("/* one\n * two */\nlet b = a + 1;\n", "let b=a+1;"),
        ("a = b + +c - -d;", "a=b+ +c- -d;"),
        ("a = b++ + c;", "a=b++ +c;"),
        ("return  typeof  a in b;", "return typeof a in b;"),
        ("a = \"x  //  y\" + '/*  */';", "a=\"x  //  y\"+'/*  */';"),
        ('a = "\\"  // no";', 'a="\\"  // no";'),
        ("a = `x  ${b  +  `y  ${c}`}  // z`;", "a=`x  ${b  +  `y  ${c}`}  // z`;"),
        ("a = b / c / d;", "a=b/c/d;"),
        ('a = f(/[/ ]\\/ "/g, b) / 2;', 'a=f(/[/ ]\\/ "/g,b)/2;'),
        ("if (a) {\n  b();\n}\nc();", "if(a){b();}\nc();"),
        ("const a = 1\nconst b = 2", "const a=1\nconst b=2"),
        ("a\n  .b()\n  ?.c();", "a.b()?.c();"),
        ("a = (b) =>\n  b;", "a=(b)=>b;"),
        ("for (const it of  them) $x(it);", "for(const it of them)$x(it);"),
        ("this.#a = 1;", "this.#a=1;"),
    ],
)
def test_what_is_left_out_says_nothing_to_a_browser(text: str, stripped: str) -> None:
    """Comments and space, but not within texts and expressions; where a line ends a statement, it goes on ending it."""
    assert scripts.strip(text) == stripped


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("/* words */\na { color: red; }\n", "a{color:red}"),
        ("a > b,\na + b { margin: calc(1px - 2px) 0; }", "a>b,a + b{margin:calc(1px - 2px) 0}"),
        ("a :hover { x: light-dark(#fff, #000);\n  y: 1; }", "a :hover{x:light-dark(#fff,#000);y:1}"),
        ("@media (max-width: 9px) {\n  a { b: c; }\n}", "@media (max-width:9px){a{b:c}}"),
    ],
)
def test_a_sheet_is_stripped(text: str, stripped: str) -> None:
    """Space stays where it separates."""
    assert scripts.strip_sheet(text) == stripped


def test_modules_that_belong_together_are_one_file() -> None:
    """Each with names of its own; what it imports from other files it imports once, and what it exports it exports."""
    sources = {
        "json.js": "// It.\nconst own = 1;\nexport const parse = () => own;\n",
        "dom.js": 'import { parse } from "./json.js";\nconst own = 2;\nexport const make = () => parse() + own;\n',
        "page.js": 'import { make } from "./dom.js";\nimport { parse } from "./json.js";\nmake(parse());\n',
        "tree.js": 'import { make } from "./dom.js";\nexport class Tree {}\nmake();\n',
        "tool.js": 'const tree = () => import("./tree.js");\ntree();\n',
    }

    found = scripts.join(sources)

    assert sorted(found) == ["answers.js", "common.js", "page.js", "tool.js"]
    assert found["common.js"] == (
        "const{parse}=(()=>{const own=1;const parse=()=>own;\nreturn{parse}})();\n"
        "const{make}=(()=>{const own=2;const make=()=>parse()+own;\nreturn{make}})();\n"
        "export{parse,make};\n"
    )
    assert found["page.js"] == 'import{make,parse}from"./common.js";\n{make(parse());\n}\n'
    assert found["tool.js"] == '{const tree=()=>import("./answers.js");tree();\n}\n'


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
        ("tool.js", ["form.css"], 22_000),
        ("approval.js", ["form.css"], 20_480),
        ("call.js", ["form.css", "lists.css"], 20_480),
    ],
)
def test_what_a_page_asks_for_is_small(entry: str, sheets: list[str], most: int) -> None:
    """Its scripts and sheets as they are sent."""
    sent = [write_file(f"x/{name}", is_packed=True) for name in (*list_modules(entry), "console.css", *sheets)]

    assert sum(len(it.body) for it in sent if it is not None) <= most
    assert all(gzip.decompress(bytes(it.body)) for it in sent if it is not None)
