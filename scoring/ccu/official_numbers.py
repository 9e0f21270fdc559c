"""Numbers as the public scorer reads them: digit by digit, so that the last one can differ.

pandas multiplies by ten and adds for each of 17 digits, a leading zero among them, and then divides
by a power of ten once. Numbers of at most 15 digits are read exactly.
"""

from __future__ import annotations

import polars as pl

_MOST = 17
_EXACT = 15


def as_read(values: pl.Series) -> pl.Series:
    """Values as pandas reads them, where they were written with as few digits as needed.

    Examples:
        >>> as_read(pl.Series([0.30000000000000004, -3.9219625675946164, 0.1])).to_list()
        [0.3, -3.921962567594616, 0.1]
    """
    known = values.drop_nulls().unique()
    known = known.filter(known.is_finite())
    long = {value: read for value in known if (read := _read(repr(value))) != value}
    return values.replace(list(long), list(long.values())) if long else values


def _read(written: str) -> float:
    """A number as written by Python, read as pandas does."""
    mantissa, _, exponent = written.lstrip("-").partition("e")
    whole, _, decimals = mantissa.partition(".")
    digits = whole + decimals
    if len(digits) <= _EXACT:
        return float(written)
    number = 0.0
    for digit in digits[:_MOST]:
        number = number * 10.0 + int(digit)
    power = int(exponent or 0) + len(whole) - min(len(digits), _MOST)
    number = number * 10.0**power if power > 0 else number / 10.0**-power
    return -number if written.startswith("-") else number
