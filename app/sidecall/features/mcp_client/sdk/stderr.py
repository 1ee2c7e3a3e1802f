"""Log a server's stderr, and remember its last line."""

import asyncio
import codecs
import logging
import re

from sidecall.features.mcp_client.sanitizer import EntrySanitizer

logger = logging.getLogger("sidecall.mcp_server")

# Logged at most: characters of a line, and lines in so many seconds.
_MOST_OF_LINE = 2000
_MOST_OF_LAST = 300
_MOST_LINES = 100
_SPAN = 10.0
_CHUNK = 8192
# Node writes this below an error, whose message is further up.
_OF_NODE = re.compile(r"Node\.js v\d+\.\S+")
_ERROR = re.compile(r"\w*Error\b.*: .+")


class ErrorOutput:
    """The lines of a server's stderr."""

    def __init__(self, server: str, words: EntrySanitizer) -> None:
        self._server = server
        self._words = words
        self._begun = 0.0
        self._count = 0
        self._last = ""
        self._error = ""

    @property
    def last(self) -> str:
        """The beginning of the last line with text; empty without one."""
        line = self._error if self._error and _OF_NODE.fullmatch(self._last) else self._last
        return line[:_MOST_OF_LAST]

    async def log(self, stream: asyncio.StreamReader) -> None:
        """Log a bounded part of the lines, until the end."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        rest = ""
        while chunk := await stream.read(_CHUNK):
            *whole, rest = (rest + decode(chunk)).split("\n")
            rest = rest[:_MOST_OF_LINE]
            for line in whole:
                self._take(line)
        self._take(rest)
        self._sum_up()

    def _take(self, line: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._begun > _SPAN:
            self._sum_up()
            self._begun = now
        # Of a line that is overwritten repeatedly, such as progress, the last state.
        shown = line.rstrip().rpartition("\r")[2]
        line = self._words.clean(shown[:_MOST_OF_LINE], is_cut=len(shown) >= _MOST_OF_LINE)
        if not line:
            return
        if any(map(str.isalnum, line)):  # No frame, and no closing bracket.
            self._last = line.strip()
        self._error = line if _ERROR.match(line) else self._error
        self._count += 1
        if self._count <= _MOST_LINES:
            logger.info("[%s] %s", self._server, line)

    def _sum_up(self) -> None:
        if self._count > _MOST_LINES:
            logger.warning("[%s] %d more lines were left out", self._server, self._count - _MOST_LINES)
        self._count = 0
