"""The Kustomize base and its overlay give what Kubernetes takes, and servers that start."""

from functools import cache
from typing import Any

import pytest

from sidecall.settings import Settings
from tests.kit.deployment import (
    DEPLOY,
    VERSIONS,
    find_insecurities,
    find_schema_errors,
    only,
    read_manifests,
    run_program,
)

BUILDS = {
    "base": {"ConfigMap", "Deployment", "NetworkPolicy", "Service", "ServiceAccount"},
    "postgresql": {
        *("ConfigMap", "Deployment", "NetworkPolicy", "Service", "ServiceAccount"),
        *("HorizontalPodAutoscaler", "PodDisruptionBudget"),
    },
}
LABELS = {"app.kubernetes.io/name": "sidecall"}


@cache
def _build(name: str) -> list[dict[str, Any]]:
    built = run_program("kubectl", "kustomize", DEPLOY / "kustomize" / name)
    assert built.returncode == 0, built.stderr
    assert built.stderr == "", "what is deprecated is named there"
    return read_manifests(built.stdout)


@pytest.mark.parametrize(("name", "kinds"), BUILDS.items(), ids=BUILDS)
def test_kubernetes_takes_what_is_built(name: str, kinds: set[str]) -> None:
    """By its strict schemas of the oldest version and the newest, and restricted."""
    manifests = _build(name)

    assert {manifest["kind"] for manifest in manifests} == kinds
    for manifest in manifests:
        assert [find_schema_errors(manifest, version) for version in VERSIONS] == [[], []]
    pod = only(manifests, "Deployment")["spec"]["template"]["spec"]
    assert find_insecurities(pod) == []
    assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)


@pytest.mark.parametrize("name", BUILDS)
def test_everything_is_about_the_servers_pods(name: str) -> None:
    """No selector is empty, which would be all pods of the namespace."""
    manifests = _build(name)
    deployment = only(manifests, "Deployment")

    assert deployment["spec"]["template"]["metadata"]["labels"] == LABELS
    assert deployment["spec"]["selector"]["matchLabels"] == LABELS
    assert only(manifests, "Service")["spec"]["selector"] == LABELS
    assert only(manifests, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == LABELS
    if "PodDisruptionBudget" in BUILDS[name]:
        assert only(manifests, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == LABELS


def test_settings_have_time_and_names_that_are_settings() -> None:
    """The pod has the sum of grace and timeout, and ten seconds; each setting is one."""
    manifests = _build("base")
    settings = only(manifests, "ConfigMap")["data"]
    default = Settings(auth=("none",))
    pod = only(manifests, "Deployment")["spec"]["template"]["spec"]

    assert {name.removeprefix("SIDECALL_").lower() for name in settings} <= Settings.model_fields.keys()
    assert pod["terminationGracePeriodSeconds"] >= default.drain_grace + default.drain_timeout + 10
    assert pod["containers"][0]["envFrom"] == [
        {"configMapRef": {"name": only(manifests, "ConfigMap")["metadata"]["name"]}}
    ]


def test_the_overlay_shares_a_database() -> None:
    """Its address comes from a Secret, before what the settings say; the autoscaler says how many servers there are."""
    manifests = _build("postgresql")
    spec = only(manifests, "Deployment")["spec"]

    assert spec["template"]["spec"]["containers"][0]["env"] == [
        {"name": "SIDECALL_STORE", "valueFrom": {"secretKeyRef": {"name": "sidecall-database", "key": "url"}}}
    ]
    assert "replicas" not in spec
    assert only(manifests, "HorizontalPodAutoscaler")["spec"]["minReplicas"] == 2
