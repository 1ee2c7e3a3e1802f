"""Load of the queue of durable calls."""

from sidecall.features.jobs.reconciler import JobReconciler
from sidecall.features.jobs.runner import Runner
from sidecall.features.jobs.submission import JobLimits
from sidecall.kernel.core.occupancy import Occupancy


class JobLoad:
    """Counts running calls of this server, and queued ones; other servers may share the queue."""

    def __init__(self, runner: Runner, reconciler: JobReconciler, limits: JobLimits) -> None:
        self._runner = runner
        self._reconciler = reconciler
        self._limits = limits

    @property
    def occupancy(self) -> Occupancy:
        """How many calls run, may run, and wait."""
        return Occupancy(self._limits.running, self._runner.running, self._reconciler.queued)

    @property
    def most_waiting(self) -> int:
        """The maximum number of queued calls."""
        return self._limits.queued
