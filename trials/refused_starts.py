"""For pytest: count a test as skipped whose server does not start, since it asks for a feature that is off."""

from collections.abc import Generator, Iterator

import pytest

from sidecall.composition.requirements import FeatureUnfit
from sidecall.kernel.core.requirements import FeatureMissing


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report such a test as skipped."""
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    if any(isinstance(it, (FeatureUnfit, FeatureMissing)) for it in _follow(error)):
        path, line, _ = item.location
        report.outcome, report.longrepr = "skipped", (path, line or 0, "it asks for a feature that is off")
    return report


def _follow(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _follow(one)
        error = error.__cause__ or error.__context__
