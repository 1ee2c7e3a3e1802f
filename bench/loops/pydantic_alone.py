"""The floor: pydantic and the function."""

from contextlib import nullcontext

from bench.loops._loop import loop
from bench.work import answer

if __name__ == "__main__":
    loop(nullcontext(answer))
