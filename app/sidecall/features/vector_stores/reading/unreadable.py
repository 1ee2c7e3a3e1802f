"""Why the text of a file cannot be had."""

from typing import Literal

FileFault = Literal["invalid_file", "unsupported_file", "server_error"]


class UnreadableFile(Exception):
    """The text of a file cannot be had; the words are for who sent it, the code is OpenAI's."""

    def __init__(self, message: str, code: FileFault = "invalid_file") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
