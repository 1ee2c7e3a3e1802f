"""The files for one machine: the systemd unit and the Compose file give servers that start, remember and drain."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from sidecall.cli.listening import refuse_open
from sidecall.settings import Settings
from tests.kit.callers.keys import write_keys
from tests.kit.deployment import DEPLOY
from tests.kit.sources import ROOT

UNIT = DEPLOY / "systemd" / "sidecall.service"
SANDBOX = DEPLOY / "systemd" / "sandbox.conf"
COMPOSE = DEPLOY / "compose" / "docker-compose.yml"
SERVICES: dict[str, Any] = YAML(typ="safe").load(COMPOSE)["services"]
# What systemd calls exposed begins at 5; the example of its manual has 9.
_MOST_EXPOSED = 2.0


def _read_unit(file: Path) -> dict[str, list[str]]:
    """Return the lines of `[Service]`, by name; one that stands more often has several."""
    lines = file.read_text().partition("[Service]\n")[2].partition("\n[")[0].splitlines()
    found: dict[str, list[str]] = {}
    for name, _, value in (line.partition("=") for line in lines if line and not line.startswith("#")):
        found.setdefault(name, []).append(value)
    return found


def _read_environment(unit: dict[str, list[str]]) -> dict[str, str]:
    pairs = (line.partition("=") for line in unit["Environment"])
    return {name.removeprefix("SIDECALL_").lower(): value for name, _, value in pairs}


def _analyze(*arguments: str, folder: Path) -> str:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    ran = subprocess.run(["systemd-analyze", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """A copy of the unit whose program is one of this machine."""
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/sidecall/bin/sidecall", "/bin/true"))
    return copy


@pytest.mark.parametrize("drop_ins", [(), (SANDBOX,)], ids=["as it is", "with a sandbox"])
def test_systemd_reads_the_unit(unit: Path, drop_ins: tuple[Path, ...], tmp_path: Path) -> None:
    """Every line, and those of the drop-in: what it does not know would be without effect."""
    for drop_in in drop_ins:
        folder = tmp_path / f"{UNIT.name}.d"
        folder.mkdir()
        shutil.copy(drop_in, folder)

    assert _analyze("verify", "--man=no", str(unit), folder=tmp_path) == ""


def test_systemd_notices_a_misspelt_line(unit: Path, tmp_path: Path) -> None:
    """So that the test above can fail."""
    unit.write_text(unit.read_text().replace("NoNewPrivileges", "NoNewPrivilege"))

    # Its words differ between versions.
    assert "'NoNewPrivilege'" in _analyze("verify", "--man=no", str(unit), folder=tmp_path)


def test_the_unit_is_as_little_exposed_as_it_can_be(unit: Path, tmp_path: Path) -> None:
    """By systemd's own measure."""
    said = _analyze("security", "--offline=yes", "--no-pager", str(unit), folder=tmp_path)
    measured = re.search(r"Overall exposure level for sidecall.service: ([\d.]+)", said)

    assert measured is not None, said
    assert float(measured[1]) <= _MOST_EXPOSED


def test_the_unit_has_settings_and_time_to_drain() -> None:
    """Each variable is a setting, what it remembers is in its folder, and tools' processes get no SIGTERM."""
    lines = _read_unit(UNIT)
    given = _read_environment(lines)
    default = Settings()

    assert given.keys() <= Settings.model_fields.keys()
    assert {value.partition("/var/lib/sidecall")[1] for name, value in given.items() if name != "log_format"} == {
        "/var/lib/sidecall"
    }
    assert lines["KillMode"] == ["mixed"]
    assert float(lines["TimeoutStopSec"][0]) >= default.drain_grace + default.drain_timeout + 10
    assert lines["Restart"] == ["on-failure"], "75 is a failure"


def test_the_unit_listens_for_this_machine_only() -> None:
    """Without a setting more, so that it starts without keys."""
    refuse_open(Settings(**_read_environment(_read_unit(UNIT))))


def test_unit_files_can_be_read_as_units() -> None:
    """Their sections are the usual ones."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[method-assign,assignment]

    assert parser.read([UNIT, SANDBOX]) == [str(UNIT), str(SANDBOX)]
    assert parser.sections() == ["Unit", "Service", "Install"]


def test_compose_file_follows_the_specification() -> None:
    """As the schema of Compose has it."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (checked.returncode, checked.stdout) == (0, "ok -- validation done\n")


@pytest.mark.parametrize("service", SERVICES)
def test_every_container_is_confined(service: str) -> None:
    """Read-only root, no privileges to be gained, bounded, and started again."""
    settings = SERVICES[service]

    assert (settings["read_only"], settings["cap_drop"]) == (True, ["ALL"])
    assert settings["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "cpus", "pids_limit"} <= settings.keys()
    assert settings["restart"] == "unless-stopped"


def test_compose_asks_for_keys_and_remembers_in_a_volume(tmp_path: Path) -> None:
    """Everything that has to outlive the container is below the mount of the named volume, which its user may write."""
    server = SERVICES["sidecall"]
    environment = {name: str(value) for name, value in server["environment"].items()}
    given = {name.removeprefix("SIDECALL_").lower(): value for name, value in environment.items()}
    write_keys(tmp_path / "keys.jsonl", {"agent": ("tools:call",)})
    settings = Settings(**given | {"hosts": "localhost", "keys_file": str(tmp_path / "keys.jsonl")})

    refuse_open(settings)
    assert settings.auth == ("api_key",)
    assert "data:/var/lib/sidecall" in server["volumes"]
    kept = [environment[f"SIDECALL_{name}"] for name in ("STORE", "WORKSPACE_DIR", "MCP_PINS_FILE")]
    assert [place for place in kept if "/var/lib/sidecall/" not in place] == []
    assert "-o 10001 -g 10001 /var/lib/sidecall" in (ROOT / "Dockerfile").read_text()
    assert "data" in YAML(typ="safe").load(COMPOSE)["volumes"]


def test_compose_gives_time_to_drain_and_reaches_its_files() -> None:
    """The sum of grace and timeout and ten seconds; its paths lead to what is there."""
    server, proxy = SERVICES["sidecall"], SERVICES["proxy"]
    default = Settings()

    assert float(server["stop_grace_period"].removesuffix("s")) >= default.drain_grace + default.drain_timeout + 10
    assert (COMPOSE.parent / server["build"] / "Dockerfile").resolve() == ROOT / "Dockerfile"
    assert (COMPOSE.parent / proxy["volumes"][0].partition(":")[0]).resolve() == DEPLOY / "caddy" / "Caddyfile"
    assert server["ports"] == ["127.0.0.1:8000:8000"]
