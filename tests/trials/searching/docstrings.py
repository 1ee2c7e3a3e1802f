"""Find documentation by its first lines: ten thousand of them, of Python's own modules, and how well and how soon."""

import ast
import statistics
import sysconfig
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sidecall.indexing.index import FileIndex
from tests.trials.finding import Finding

_WANTED = 10_000
_QUERIES = 500


def run() -> Iterator[Finding]:
    """Index all and search."""
    yield _try(_WANTED, _QUERIES)


def run_shortly() -> Iterator[Finding]:
    """Do so with fewer."""
    yield _try(1500, 60)


def read_docstrings(most: int) -> list[tuple[str, str]]:
    """Return the first line and the rest of docstrings of Python's own modules and of those that are installed."""
    found: dict[str, str] = {}
    for root in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for path in sorted(Path(root).rglob("*.py")):
            if root == sysconfig.get_path("stdlib") and "site-packages" in path.parts:
                continue
            for text in _list_docstrings(path):
                head, _, rest = text.partition("\n")
                # Such as are texts, and have a first line of their own.
                if len(rest.split()) >= 40 and len(head.split()) >= 4:
                    found.setdefault(head.strip(), rest.strip())
            if len(found) >= most:
                return list(found.items())[:most]
    return list(found.items())


def _list_docstrings(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node)
            if text:
                yield text


def list_samples(texts: int, queries: int) -> tuple[range, range]:
    """Return which texts are looked for: some, and as many others, which tell whether the first are flattered."""
    step = max(2, texts // queries)
    return range(0, texts, step), range(step // 2, texts, step)


def write_finding(row: str, what: str, shares: Sequence[float], taken: float, times: Sequence[float]) -> Finding:
    """Write what was found of both samples, and how soon."""
    slow = statistics.quantiles(times, n=20)[-1] * 1000
    return Finding(
        row,
        f"{what}, each found by its first line, which is not in it, among the best 20",
        "at least 0.80 of them; indexed in 2 s, p95 25 ms, of CPU",
        f"{shares[0]:.3f}, and {shares[1]:.3f} of as many others; {taken:.2f} s, {slow:.1f} ms",
        min(shares) >= 0.80,
        taken < 2 and slow < 25,
    )


def _try(most: int, queries: int) -> Finding:
    texts, index = read_docstrings(most), FileIndex()
    begun = time.process_time()
    index.put((f"doc{number}", rest, {}) for number, (_, rest) in enumerate(texts))
    taken = time.process_time() - begun
    shares, times = [], []
    for sample in list_samples(len(texts), queries):
        hits = 0
        for number in sample:
            begun = time.process_time()
            found = [piece.filename for piece in index.search([texts[number][0]], 20)]
            times.append(time.process_time() - begun)
            hits += f"doc{number}" in found
        shares.append(hits / len(sample))
    index.close()
    return write_finding("file search", f"{len(texts):,} docstrings", shares, taken, times)
