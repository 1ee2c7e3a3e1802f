"""What the log says of the trouble with a file: that it begins, that something else is wrong, that it ends."""

import logging

from sidecall.ledger.sql.sqlite.purposes import Purpose

logger = logging.getLogger("sidecall")

# Different things that are said of one time of trouble.
_MOST = 20


class TroubleLog:
    """Write each thing into the log once, however often it is found again."""

    def __init__(self, purpose: Purpose, name: str) -> None:
        self._purpose = purpose
        self._name = name
        self._told: set[str] = set()

    def tell(self, trouble: str) -> None:
        """Write down what is wrong, unless that was done."""
        if trouble in self._told or len(self._told) == _MOST:
            return
        if self._told:
            logger.error("%s still cannot be written: %s", self._purpose.name, trouble)
        else:
            logger.error("%s cannot be written, so %s: %s", self._purpose.name, self._purpose.loss, trouble)
        self._told.add(trouble)

    def tell_end(self) -> None:
        """Write down that it is over."""
        self._told.clear()
        logger.warning("%s can be written again: %s", self._purpose.name, self._name)
