"""How full the queue of remembered calls is."""

from sidecall.features.jobs.reconciler import JobReconciler
from sidecall.features.jobs.runner import Runner
from sidecall.features.jobs.submission import JobLimits
from sidecall.kernel.core.occupancy import Occupancy


class JobLoad:
    """Counts the remembered calls that run here, and those that are queued; other servers may share the queue."""

    def __init__(self, runner: Runner, reconciler: JobReconciler, limits: JobLimits) -> None:
        self._runner = runner
        self._upkeep = reconciler
        self._limits = limits

    @property
    def occupancy(self) -> Occupancy:
        """How many run, how many may, and how many wait."""
        return Occupancy(self._limits.running, self._runner.running, self._upkeep.queued)

    @property
    def most_waiting(self) -> int:
        """How many calls may be queued."""
        return self._limits.queued
