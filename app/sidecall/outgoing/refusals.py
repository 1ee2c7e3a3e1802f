"""The refusal of an outgoing request, as the model reads it."""

import logging
from typing import Any, Literal

from sidecall.kernel.core.errors import ToolException

logger = logging.getLogger("sidecall")

About = Literal["address", "size", "coding"]


class OutgoingRefused(ToolException):
    """The request may not be sent, or its answer may not be read.

    `about` says what is wrong: the `address`, the `size` of the answer, or the `coding` that it is packed in.
    """

    def __init__(self, *args: Any, about: About = "address", **options: Any) -> None:
        super().__init__(*args, **options)
        self.about = about


def refuse(text: str, hint: str, about: About = "address") -> OutgoingRefused:
    """Build a refusal for the model, which can change its request and no setting.

    The hint is for those who can: operators find it in the log, and authors below a traceback.
    """
    refusal = OutgoingRefused(text, about=about)
    refusal.add_note(hint)
    logger.info("%s %s", text, hint)
    return refusal
