"""What a call costs: amounts in the operator's currency, added exactly."""

import math
from collections.abc import Awaitable, Callable, Sequence
from decimal import Context, Decimal
from threading import Lock
from typing import Any, Self

# Amounts are kept and shown in whole billionths.
BILLION = 1_000_000_000
# What one amount, and all of one call together, may be at most.
MOST = 1_000_000
# Within a call finer ones are added up, so that a thousand tiny amounts are what they are together.
_FINE = 10**6
_FINEST = BILLION * _FINE
_EXACT = Context(prec=60)

# Is told billionths that are added after the end of a call, in any thread.
Hear = Callable[[int], object]


def read_amount(amount: object) -> int:
    """Return an amount in the finest unit, 10 ** -15.

    A float is read as it is written: 0.1 is a tenth. What is smaller still is rounded.

    Raises:
        TypeError: It is no number.
        ValueError: It is negative, not finite, or more than a million.
    """
    if isinstance(amount, bool) or not isinstance(amount, int | float | Decimal):
        raise TypeError(f"a cost is a number, such as 0.005, and not of the type {type(amount).__name__}")
    if isinstance(amount, int):
        is_fit = 0 <= amount <= MOST
    elif isinstance(amount, float):
        is_fit = math.isfinite(amount) and 0 <= amount <= MOST
    else:
        is_fit = amount.is_finite() and 0 <= amount <= MOST
    if not is_fit:
        raise ValueError(f"a cost is a number from 0 to {MOST}")
    # As its class may write it otherwise, such as one of NumPy's.
    exact = Decimal(float.__repr__(amount)) if isinstance(amount, float) else Decimal(amount)
    return int(_EXACT.to_integral_value(_EXACT.scaleb(exact, 15)))


def check_amount(amount: object) -> object:
    """Return an amount as it is.

    Raises:
        ValueError: It is none.
    """
    try:
        read_amount(amount)
    except TypeError as error:
        raise ValueError(str(error)) from None
    return amount


def to_billionths(fine: int) -> int:
    """Round a fine amount to whole billionths, halves up."""
    return (fine + _FINE // 2) // _FINE


def to_number(billionths: int) -> float:
    """Return an amount as the number that JSON shows: 5,000,000 billionths are 0.005."""
    return billionths / BILLION


def write_amount(billionths: int) -> str:
    """Write an amount with two decimal places at least: `5.00`, `0.005`."""
    whole, rest = divmod(abs(billionths), BILLION)
    places = f"{rest:09}".rstrip("0").ljust(2, "0")
    return f"{'-' if billionths < 0 else ''}{whole}.{places}"


class CallCost:
    """Adds up what one call costs; thread-safe."""

    __slots__ = ("_fine", "_heard", "_lock", "_tell", "is_counted", "reservations", "reserve")

    def __init__(self, tell: Callable[[int], object] | None = None, fine: int = 0) -> None:
        """Begin at 0, or at what the call has cost before.

        Args:
            tell: Told each amount in its finest unit, where another process adds them up.
            fine: What that process has added up so far, in the same unit.
        """
        self._lock = Lock()
        self._fine = fine
        self._heard: tuple[Hear, ...] = ()
        self._tell = tell
        # Whether budgets hear of it, what they have reserved for it, and what has them reserve it before the tool runs.
        self.is_counted = False
        self.reservations: Sequence[Any] = ()
        self.reserve: Callable[[Any], Awaitable[None]] | None = None

    def __deepcopy__(self, _memo: object) -> Self:
        """Return itself: a copy of a context is of the same call."""
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        """Begin anew in another process."""
        return type(self), ()

    @property
    def fine(self) -> int:
        """What has been added, in the finest unit."""
        return self._fine

    @property
    def billionths(self) -> int:
        """What has been added."""
        return to_billionths(self._fine)

    def add(self, amount: object) -> None:
        """Add an amount.

        Raises:
            TypeError: It is no number.
            ValueError: It is negative, not finite, or too much.
        """
        self.add_fine(read_amount(amount))

    def add_fine(self, fine: int) -> None:
        """Add an amount in its finest unit.

        Raises:
            ValueError: The call would cost too much.
        """
        with self._lock:
            total = self._fine + fine
            if total > MOST * _FINEST:
                raise ValueError(f"a call costs {MOST} at most, and this one costs {write_amount(self.billionths)}")
            more = to_billionths(total) - to_billionths(self._fine)
            self._fine = total
            heard = self._heard
        if self._tell is not None:
            self._tell(fine)
        if more:
            for hear in heard:
                hear(more)

    def hear_more(self, hear: Hear) -> int:
        """Return the billionths so far, and tell `hear` of all that are added from now on."""
        with self._lock:
            self._heard = (*self._heard, hear)
            return self.billionths
