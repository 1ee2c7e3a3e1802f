#!/usr/bin/env bash
# Where /proc has processes only (`ProcSubset=pid` of systemd, `mount -o subset=pid`), prometheus_client has no metric of its
# process at all, neither memory nor open files, and says nothing. It takes root on Linux.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check prometheus_client==0.26.0 2>/dev/null
cat >"$folder/started.py" <<'PYTHON'
import sys
from importlib.metadata import version

from prometheus_client import CollectorRegistry, ProcessCollector

registry = CollectorRegistry()
ProcessCollector(registry=registry)
names = sorted(metric.name for metric in registry.collect())
with open("/proc/self/status") as status:
    memory = next(line for line in status if line.startswith("VmRSS")).split()[1]
print(version("prometheus_client"), sys.argv[1], f"/proc: {memory} kB in /proc/self/status, metrics: {names}")
sys.exit(bool(names) != (sys.argv[1] == "whole"))
PYTHON
"$folder/env/bin/python" "$folder/started.py" whole
unshare --mount --pid --fork sh -c "mount -t proc -o subset=pid proc /proc && '$folder/env/bin/python' '$folder/started.py' subset"
