"""Sum up many answers, and judge single ones."""

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.rounds import milliseconds, percentile
from tests.kit.lines import Answer


def quantiles(answers: Sequence[Answer]) -> str:
    """Write the times of answers."""
    times = [answer.seconds for answer in answers]
    if not times:
        return "none"
    parts = {"p50": percentile(times, 0.5), "p99": percentile(times, 0.99), "largest": max(times)}
    return ", ".join(f"{name} {milliseconds(figure)}" for name, figure in parts.items())


def span(times: Sequence[float]) -> str:
    """Write the shortest and the longest of some times in seconds."""
    return f"{min(times):.2f} to {max(times):.2f} s" if len(times) > 1 else f"{times[0]:.2f} s"


def tally(answers: Iterable[Answer]) -> str:
    """Count answers by status, and what did not come by the reason."""
    counted = Counter(answer.failure or f"with {answer.status}" for answer in answers)
    return ", ".join(f"{count:,} {what}" for what, count in sorted(counted.items())) or "none"


def is_refusal(answer: Answer) -> bool:
    """Return whether an answer is a 503 as a client wants it: a problem, with the time after which to come back."""
    is_problem = answer.headers.get("content-type", "").startswith("application/problem+json")
    return answer.status == 503 and is_problem and answer.headers.get("retry-after", "").isdigit()


def is_success(answer: Answer) -> bool:
    """Return whether a tool ran to its end."""
    said = answer.json
    return answer.status == 200 and isinstance(said, dict) and said.get("status") == "success"
