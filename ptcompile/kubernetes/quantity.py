"""Kubernetes quantities (`500m`, `1.5Gi`, `1e3`): parsed, compared, added and printed as
apimachinery 1.36 does.

Amounts are whole numbers of 10^-9 (nano), so nothing is rounded here that the server does not
round.
"""

from __future__ import annotations

from functools import total_ordering

from ptcompile._internal.lazy import Pattern, bounded_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Format = Literal["decimal", "binary", "exponent"]
    """How a quantity was written, and so how it is printed: `1500M`, `1536Mi` or `15e8`."""

NANO = 10**9
MILLI = 10**6
"""One thousandth, in nano units: what the server rounds requests and limits up to."""

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BINARY_CAP = (2**63 - 1) * NANO
# limits on the arithmetic, far beyond any cluster: 1e999999999 is a valid quantity
_MAX_POWER = 64
_MAX_DIGITS = 1000

# Go's scanner allows every part to be absent: "Ki" and "+" are zero
_quantity = Pattern(
    r"([-+]?)([0-9]*)(?:\.([0-9]*))?(?:([KMGTPE]i|[numkMGTPE])|[eE]([-+]?[0-9]{1,18}))?"
).fullmatch


@total_ordering
class Quantity:
    """An exact amount and the way it was written. Only the amount is compared: `1Gi` equals
    `1024Mi`.
    """

    __slots__ = ("format", "nano")

    nano: int
    """The amount in units of 10^-9."""
    format: Format

    def __init__(self, nano: int, format: Format = "decimal") -> None:
        self.nano = nano
        self.format = format

    @property
    def is_integer(self) -> bool:
        """Whether the amount is whole, as it must be for GPUs and other extended resources
        (`1000m` is).
        """
        return self.nano % NANO == 0

    @property
    def value(self) -> int:
        """The amount as a whole number, rounded away from zero (`Quantity.Value()` of
        apimachinery).
        """
        return _round_up(self.nano, NANO) // NANO

    def rounded(self, unit: int = MILLI) -> Quantity:
        """Return the amount rounded away from zero to a multiple of `unit`; the server rounds
        resource lists to milli.
        """
        return Quantity(_round_up(self.nano, unit), self.format)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nano == other.nano

    def __hash__(self) -> int:
        return hash(self.nano)

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano + other.nano, self.format if self.nano else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano - other.nano, self.format if self.nano else other.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.nano * times, self.format)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __str__(self) -> str:
        return to_string(self)

    def __repr__(self) -> str:
        return f"Quantity({to_string(self)!r})"


def is_quantity(value: object) -> bool:
    """Return whether the server accepts a value as a quantity. `null` is not one; it means that
    the field is unset.
    """
    return parse(value) is not None


def parse(value: object) -> Quantity | None:
    """Return the quantity that a JSON value represents, or None if the server rejects it.

    Strings and numbers are accepted, booleans are not. Surrounding spaces are ignored. Amounts
    finer than 10^-9 are rounded away from zero; binary ones are capped at 2^63-1; amounts beyond
    10^64 are cut, which no cluster can tell apart.
    """
    if isinstance(value, str):
        return _parse(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _parse(str(value)) if -1e308 < value < 1e308 else None


@bounded_cache(1024)
def _parse(text: str) -> Quantity | None:
    plain = text.strip(" ")
    if not plain or len(text) > _MAX_DIGITS:
        return None

    match = _quantity(plain)
    if match is None:
        return None

    sign, whole, fraction, suffix, exponent = match.groups(default="")
    digits = int(whole + fraction or "0")
    style: Format = "decimal"
    if suffix in _BINARY[1:]:
        style = "binary"
        nano = min(_scale_up(digits << 10 * _BINARY.index(suffix), 9 - len(fraction)), _BINARY_CAP)
        if fraction and 0 < nano < NANO:
            style = "decimal"
    elif exponent:
        style = "exponent"
        nano = _scale_up(digits, int(exponent) + 9 - len(fraction))
    else:
        nano = _scale_up(digits, _DECIMAL[suffix] + 9 - len(fraction))

    return Quantity(-nano if sign == "-" else nano, style)


def _scale_up(digits: int, power: int) -> int:
    """Return `digits * 10**power`, rounded up."""
    if power >= 0:
        return digits * int(10 ** min(power, _MAX_POWER))
    unit = int(10 ** min(-power, 2 * _MAX_DIGITS))
    return -(-digits // unit)


def _round_up(nano: int, unit: int) -> int:
    if nano >= 0:
        return -(-nano // unit) * unit
    return nano // unit * unit


def to_string(quantity: Quantity) -> str:
    """Return the canonical text, as the server prints it: no fraction, the largest suffix that fits
    (`1536Mi`, `2500m`).
    """
    nano = quantity.nano
    if not nano:
        return "0"
    if quantity.format == "binary" and abs(nano) >= 1024 * NANO and nano % NANO == 0:
        amount = nano // NANO
        steps = 0
        while steps < 6 and amount % 1024 == 0:
            amount = amount // 1024
            steps = steps + 1
        return f"{amount}{_BINARY[steps]}"

    amount = nano
    power = -9
    while amount % 1000 == 0:
        amount = amount // 1000
        power = power + 3
    # no suffix exists beyond E, so the server falls back to the exponent
    if (quantity.format == "exponent" or power > 18) and power:
        return f"{amount}e{power}"

    return f"{amount}{_DECIMAL_SUFFIX[power]}"


def why_not(value: object) -> str | None:
    """Return why the server rejects a value as a quantity, with the likely intended value, or
    None if it accepts it.
    """
    if is_quantity(value):
        return None
    if not isinstance(value, str):
        return "must be a quantity such as 2, 500m or 8Gi"
    if not value.strip(" "):
        return "must not be empty"

    suggestion = likely_quantity(value)
    return "must be a number with one of the suffixes n u m k M G T P E or Ki Mi Gi Ti Pi Ei" + (
        f" (did you mean {suggestion}?)" if suggestion else ""
    )


def likely_quantity(text: str) -> str | None:
    """Return the quantity that a rejected text most likely means, or None: `8Gi` for `8gib`, `8G`
    for `8GB`, `8k` for `8K`.
    """
    import re

    match = re.fullmatch(
        r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([kmgtp])(i?)b?(?:ytes)?", text.strip().lower()
    )
    if match is None:
        return None

    number, unit, binary = match.groups()
    if binary:
        return f"{number}{unit.upper()}i"

    return f"{number}{'k' if unit == 'k' else unit.upper()}"
