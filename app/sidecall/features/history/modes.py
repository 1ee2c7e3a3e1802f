"""How much of each call the history keeps."""

from typing import Literal

HistoryMode = Literal["off", "meta", "full"]
