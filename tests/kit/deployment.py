"""What checks the files of deploy/: Helm, kubectl, the schemas of Kubernetes, nginx, Caddy and promtool."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from ruamel.yaml import YAML

from tests.kit.sources import ROOT

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "sidecall"
# The oldest that the chart takes, and the newest that the package has.
VERSIONS = ("1.27", "1.37")
# Kinds of the Prometheus operator, which Kubernetes has no schemas of.
OPERATOR = "monitoring.coreos.com/v1"
_CHECKS = ROOT / ".venv-clients" / "deploy"
_DEBIAN = ROOT / ".venv-clients" / "proxies" / "usr"
_SCHEMAS = _CHECKS / "lib" / "kubernetes_validate" / "kubernetes-json-schema"
# Which script gets a program, and where it puts it.
_PLACES: Mapping[str, tuple[str, Path]] = {
    "helm": ("install-deploy-checks", _CHECKS / "bin"),
    "kubectl": ("install-deploy-checks", _CHECKS / "bin"),
    "nginx": ("install-proxies", _DEBIAN / "sbin"),
    "caddy": ("install-proxies", _DEBIAN / "bin"),
    "promtool": ("install-proxies", _DEBIAN / "bin"),
}
_SECONDS = 60.0


def has_programs(*names: str) -> bool:
    """Return whether all of these programs are there."""
    return all(_look_for(name) for name in names)


def find_program(name: str) -> str:
    """Return the path of a program; without it the test is skipped, but fails in CI."""
    found = _look_for(name)
    if found is None:
        _do_without(f"there is no {name}; scripts/{_PLACES[name][0]} gets it")
    return str(found)


def _look_for(name: str) -> str | None:
    own = _PLACES[name][1] / name
    return str(own) if own.exists() else shutil.which(name)


def _do_without(missing: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


def load_library(name: str) -> Any:
    """Import a library that only these tests need; without it the test is skipped, but fails in CI."""
    folder = str(_CHECKS / "lib")
    if not (_CHECKS / "lib" / name.partition(".")[0]).exists():
        _do_without(f"there is no {name}; scripts/install-deploy-checks gets it")
    if folder not in sys.path:
        # At the end, so that nothing of it goes before what is installed.
        sys.path.append(folder)
    return importlib.import_module(name)


def run_program(name: str, *arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return what it printed."""
    command = [find_program(name), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=_SECONDS, check=False)


def render_chart(values: Mapping[str, Any], *options: str) -> subprocess.CompletedProcess[str]:
    """Render the chart as the release `sidecall` in the namespace `tools`, with values of one's own."""
    command = [
        find_program("helm"),
        "template",
        "sidecall",
        str(CHART),
        "--namespace",
        "tools",
        "--values",
        "-",
        *options,
    ]
    said = json.dumps(values)
    return subprocess.run(command, input=said, capture_output=True, text=True, timeout=_SECONDS, check=False)


def render_manifests(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the chart makes of values."""
    return read_manifests(_render_text(json.dumps(values)))


@cache
def _render_text(values: str) -> str:
    rendered = render_chart(json.loads(values))
    assert rendered.returncode == 0, rendered.stderr
    return rendered.stdout


def read_manifests(text: str) -> list[dict[str, Any]]:
    """Read the documents of a YAML stream; a key that stands twice is an error."""
    return [document for document in YAML(typ="safe").load_all(text) if document is not None]


def only(manifests: Sequence[Mapping[str, Any]], kind: str) -> Any:
    """Return the one manifest of a kind."""
    [found] = [manifest for manifest in manifests if manifest["kind"] == kind]
    return found


def find_schema_errors(manifest: Mapping[str, Any], version: str) -> list[str]:
    """Return what the strict schema of a version of Kubernetes says against a manifest."""
    group, _, api_version = manifest["apiVersion"].rpartition("/")
    name = "-".join(filter(None, (manifest["kind"].lower(), group.partition(".")[0], api_version)))
    validator = _load_validator(version, name)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(manifest)]


@cache
def _load_validator(version: str, name: str) -> Draft202012Validator:
    folder = _SCHEMAS / f"v{version}.0-local-strict"
    if not folder.exists():
        _do_without("there are no schemas of Kubernetes; scripts/install-deploy-checks gets them")
    return Draft202012Validator(json.loads((folder / f"{name}.json").read_text()), registry=_load_definitions(folder))


@cache
def _load_definitions(folder: Path) -> Registry[Any]:
    contents = json.loads((folder / "_definitions.json").read_text())
    registry: Registry[Any] = Registry().with_resource("_definitions.json", DRAFT202012.create_resource(contents))
    return registry


def find_insecurities(pod: Mapping[str, Any]) -> list[str]:
    """Return what the Pod Security Standard `restricted` says against the `spec` of a pod."""
    shared = pod.get("securityContext", {})
    wrong = [name for name in ("hostNetwork", "hostPID", "hostIPC") if pod.get(name)]
    kinds = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
    wrong += [volume["name"] for volume in pod.get("volumes", ()) if set(volume) - {"name"} - kinds]
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        own = container.get("securityContext", {})
        held = {**shared, **own}
        meets = {
            "allowPrivilegeEscalation": own.get("allowPrivilegeEscalation") is False,
            "capabilities": "ALL" in own.get("capabilities", {}).get("drop", ())
            and set(own["capabilities"].get("add", ())) <= {"NET_BIND_SERVICE"},
            "privileged": not own.get("privileged"),
            "procMount": own.get("procMount", "Default") == "Default",
            "runAsNonRoot": held.get("runAsNonRoot") is True and held.get("runAsUser") != 0,
            "seccompProfile": held.get("seccompProfile", {}).get("type") in ("RuntimeDefault", "Localhost"),
            "hostPort": not any(port.get("hostPort") for port in container.get("ports", ())),
        }
        wrong += [f"{container['name']}: {name}" for name, is_met in meets.items() if not is_met]
    return wrong
