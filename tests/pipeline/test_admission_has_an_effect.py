"""Whose calls count together."""

import pytest

from sidecall.core.context import Caller
from sidecall.core.overload import TooManyCalls
from sidecall.pipeline.admission import Admission, Limits


async def test_callers_of_one_name_in_two_tenants_are_two() -> None:
    """Each has places of its own."""
    admission = Admission(Limits(per_caller=1))

    await admission.enter((), Caller("ann", "acme"))
    await admission.enter((), Caller("ann", "emca"))
    with pytest.raises(TooManyCalls):
        await admission.enter((), Caller("ann", "acme"))

    assert admission.running == 2
