"""Log outages of a file or database: their beginning, changes of reason, and end."""

import logging

logger = logging.getLogger("sidecall")

# Different things that are said of one time of trouble.
_MOST = 20


class OutageLog:
    """Logs each change once, however often it is reported.

    The text says that `what`, which is at `name`, cannot be `used`, and what is lost by that.
    """

    def __init__(self, what: str, used: str, loss: str, name: str) -> None:
        self._what = what
        self._used = used
        self._loss = loss
        self._name = name
        self._told: set[str] = set()

    def tell(self, trouble: str) -> None:
        """Log the reason, unless it was logged last."""
        if trouble in self._told or len(self._told) == _MOST:
            return
        if self._told:
            logger.error("%s still cannot be %s: %s", self._what, self._used, trouble)
        else:
            logger.error("%s cannot be %s, so %s: %s", self._what, self._used, self._loss, trouble)
        self._told.add(trouble)

    def run_on_end(self) -> None:
        """Log the end of the outage."""
        self._told.clear()
        logger.warning("%s can be %s again: %s", self._what, self._used, self._name)
