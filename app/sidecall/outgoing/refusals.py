"""What a model reads where its request may not go."""

from typing import Any, Literal

from sidecall.core.errors import ToolException


class OutgoingRefused(ToolException):
    """The request may not be sent, or its answer may not be read.

    `about` says what is wrong: the `address`, the `size` of the answer, or the `coding` that it is packed in.
    """

    def __init__(self, *args: Any, about: Literal["address", "size", "coding"] = "address", **options: Any) -> None:
        super().__init__(*args, **options)
        self.about = about
