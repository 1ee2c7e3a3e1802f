"""The package for JavaScript works in Node.js, Bun and Deno, with the packages that programs use it with."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.environments import ROOT
from sidecall.version import __version__
from tests.e2e.models import running_models
from tests.kit.servers import Server

HERE = Path(__file__).parent
PACKAGE = ROOT / "clients/js"


@pytest.fixture
def package(for_javascript: Path, tmp_path: Path) -> Path:
    """The package and its tests in a folder where they find each other and the packages of npm."""
    modules = tmp_path / "node_modules"
    modules.mkdir()
    for installed in (for_javascript / "node_modules").iterdir():
        (modules / installed.name).symlink_to(installed)
    (modules / "sidecall").symlink_to(PACKAGE)
    shutil.copytree(PACKAGE / "test", tmp_path / "test")
    # Deno looks for packages where the nearest of these files is.
    (tmp_path / "test/package.json").rename(tmp_path / "package.json")
    return tmp_path


def run_node(folder: Path, *arguments: str, **environment: str) -> str:
    """Run a program of Node.js that has to succeed, and return what it prints."""
    node = shutil.which("node")
    assert node is not None
    return run_program(folder, node, *arguments, **environment)


def run_program(folder: Path, *command: str, **environment: str) -> str:
    """Run a program that has to succeed, and return what it prints."""
    settings = {**os.environ, **environment}
    done = subprocess.run(
        command,
        cwd=folder,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


# Where each program is in its package, how it runs tests, and what needs a newer one.
RUNTIMES: dict[str, tuple[str, list[str], set[str]]] = {
    "node20": ("node20-*/bin/node", ["--test"], {"ai.test.js", "mastra.test.js"}),
    "node24": ("node24-*/bin/node", ["--test"], set()),
    "bun": ("@oven/bun-linux-*/bin/bun", ["test", "--timeout", "60000"], set()),
    "deno": ("@deno/linux-*/deno", ["test", "--allow-all", "--no-check", "--quiet"], set()),
}
# How each says that all tests have passed, and that none was left out.
ENDS = {
    "node20": re.compile(r"^. fail 0$.^. cancelled 0$.^. skipped 0$", re.MULTILINE | re.DOTALL),
    "node24": re.compile(r"^. fail 0$.^. cancelled 0$.^. skipped 0$", re.MULTILINE | re.DOTALL),
    "bun": re.compile(r"^ *[0-9]+ pass$.^ *0 fail$", re.MULTILINE | re.DOTALL),
    "deno": re.compile(r"^ok \| [0-9]+ passed \| 0 failed \(", re.MULTILINE),
}


@pytest.mark.parametrize("name", RUNTIMES)
def test_its_own_tests_pass(package: Path, runtimes: Path, desk: Server, name: str) -> None:
    """With the real packages of OpenAI, Vercel and Mastra, against a real server."""
    place, command, newer = RUNTIMES[name]
    (program,) = (runtimes / "node_modules").glob(place)
    files = sorted(path.name for path in (package / "test").glob("*.test.js"))

    printed = run_program(
        package,
        str(program),
        *command,
        *(f"test/{file}" for file in files if file not in newer),
        SIDECALL_URL=desk.url,
        NO_COLOR="1",
    )

    assert ENDS[name].search(printed), printed[-3000:]
    assert len(files) == 9


def test_its_types_are_those_of_the_document(for_typescript: Path, package: Path) -> None:
    """Compiled with every strictness, beside types that are made of the OpenAPI document."""
    programs = for_typescript / "node_modules/.bin"
    document = str(ROOT / "openapi/openapi.json")

    run_node(package, str(programs / "openapi-typescript"), document, "--output", "test/api.d.ts")
    run_node(package, str(programs / "tsc"), "--project", "test")


def test_what_is_published_is_the_package() -> None:
    """With the version of the server, and everything that it is made of."""
    manifest = json.loads((PACKAGE / "package.json").read_text())
    readme = (PACKAGE / "README.md").read_text()

    assert manifest["version"] == __version__
    assert "dependencies" not in manifest
    assert [name for name in ("tools(", "call(", "batch(", "stream(", "run(", "aiTools(") if name not in readme] == []


def test_the_code_of_its_readme_runs(package: Path, shipped: Server) -> None:
    """The loops, with the real packages, against models of ours."""
    fences = re.findall(r"```js\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    with running_models() as url:
        settings = {"SIDECALL_URL": shipped.url, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1"}
        (package / "readme.mjs").write_text("\n".join(fences))
        assert run_node(package, "readme.mjs", **settings).splitlines() == ["42", "The result is 11.0."]
