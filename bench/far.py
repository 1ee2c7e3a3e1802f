"""The tools of a fleet that is measured: the same one near and far, and one that computes."""

from sidecall import tool


@tool
async def echo(text: str) -> str:
    """Return the text unchanged.

    Args:
        text: Anything.
    """
    return text


@tool(executor="process")
async def echo_near(text: str) -> str:
    """Return the text unchanged, in a process of the server.

    Args:
        text: Anything.
    """
    return text


@tool(queue="far")
async def echo_far(text: str) -> str:
    """Return the text unchanged, on a worker.

    Args:
        text: Anything.
    """
    return text


@tool(queue="one", executor="thread", timeout=120)
def crunch_one(rounds: int) -> int:
    """Compute for a while, where there is one worker.

    Args:
        rounds: How long.
    """
    return sum(number * number for number in range(rounds))


@tool(queue="two", executor="thread", timeout=120)
def crunch_two(rounds: int) -> int:
    """Compute for a while, where there are two workers.

    Args:
        rounds: How long.
    """
    return sum(number * number for number in range(rounds))
