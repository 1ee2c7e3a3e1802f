"""The package for JavaScript works in Node.js, with the packages that programs use it with."""

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
    return tmp_path


def run_node(folder: Path, *arguments: str, **environment: str) -> str:
    """Run a program of Node.js that has to succeed, and return what it prints."""
    node = shutil.which("node")
    assert node is not None
    settings = {**os.environ, **environment}
    done = subprocess.run(
        [node, *arguments], cwd=folder, env=settings, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass(package: Path, desk: Server) -> None:
    """With the real packages of OpenAI and Vercel, against a real server."""
    files = sorted(str(path.relative_to(package)) for path in (package / "test").glob("*.test.js"))

    printed = run_node(package, "--test", "--test-reporter=tap", *files, SIDECALL_URL=desk.url)

    assert "\n# fail 0" in printed
    assert "\n# skipped 0" in printed
    assert len(files) == 3


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
