"""What the feature processes adds to a server."""

from sidecall.feature import Built, Feature, Host
from sidecall.features.processes.late import make_late_processes


def _build(host: Host) -> Built:
    """Have what runs tools in processes of their own; they start with the first tool."""
    return Built(executors={"process": make_late_processes(host.executing)})


FEATURE = Feature(name="processes", executors=frozenset({"process"}), build=_build)
