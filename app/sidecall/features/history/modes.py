"""How much of calls is kept in the history."""

from typing import Literal

HistoryMode = Literal["off", "meta", "full"]
