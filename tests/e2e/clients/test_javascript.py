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
    return lay_out(tmp_path, for_javascript)


@pytest.fixture
def framework_package(for_frameworks: Path, tmp_path: Path) -> Path:
    """The same with the providers' packages and the frameworks."""
    return lay_out(tmp_path, for_frameworks)


def lay_out(folder: Path, clients: Path) -> Path:
    """Lay the package, its tests and packages of npm out in a folder, as in a program of somebody's own."""
    modules = folder / "node_modules"
    modules.mkdir()
    for installed in (clients / "node_modules").iterdir():
        (modules / installed.name).symlink_to(installed)
    # A copy, since packages are looked for from where a module really is.
    shutil.copytree(PACKAGE, modules / "sidecall", ignore=shutil.ignore_patterns("node_modules"))
    shutil.copytree(PACKAGE / "test", folder / "test")
    # Deno looks for packages where the nearest of these files is.
    for inner in (folder / "test").rglob("package.json"):
        inner.unlink()
    shutil.copy(clients / "package.json", folder)
    return folder


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
    "node20": (
        "node20-*/bin/node",
        ["--test"],
        {"ai.test.js", "mastra.test.js", "mastra_mcp.test.js", "mastra_tools.test.js", "agents.test.js"},
    ),
    # Each file in a process of its own would load the packages again; older ones can do no other.
    "node24": ("node24-*/bin/node", ["--test", "--test-isolation=none"], set()),
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
    assert run_tests(package, runtimes, name, "test", desk.url) == 10


@pytest.mark.parametrize("name", RUNTIMES)
def test_programs_of_other_packages_have_the_tools(
    framework_package: Path, runtimes: Path, desk: Server, name: str
) -> None:
    """Loops of the providers' packages, and agents of frameworks, with models on loopback."""
    assert run_tests(framework_package, runtimes, name, "test/frameworks", desk.url) == 9


def run_tests(folder: Path, runtimes: Path, name: str, under: str, url: str) -> int:
    """Run the tests in a folder that a runtime can run, which have to pass, and return how many files there are."""
    place, command, newer = RUNTIMES[name]
    (program,) = (runtimes / "node_modules").glob(place)
    files = sorted(path.name for path in (folder / under).glob("*.test.js"))
    chosen = [f"{under}/{file}" for file in files if file not in newer]

    printed = run_program(folder, str(program), *command, *chosen, SIDECALL_URL=url, NO_COLOR="1")

    assert ENDS[name].search(printed), printed[-3000:]
    return len(files)


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
    assert [
        name
        for name in ("tools(", "call(", "batch(", "stream(", "run(", "aiTools(", "loadTools(")
        if name not in readme
    ] == []


def test_the_code_of_its_readme_runs(package: Path, shipped: Server) -> None:
    """The loops, with the real packages, against models of ours."""
    fences = re.findall(r"```js\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    with running_models() as url:
        settings = {"SIDECALL_URL": shipped.url, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1"}
        (package / "readme.mjs").write_text("\n".join(fences))
        assert run_node(package, "readme.mjs", **settings).splitlines() == ["42", "The result is 11.0."]
