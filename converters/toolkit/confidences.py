"""Confidences that a format writes as decimal numbers: read in bulk, and written unchanged."""

from __future__ import annotations

import re
from decimal import Decimal
from math import isfinite

import polars as pl

_NUMBER = r"[ ]*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?[ ]*"


def decimal(value: float) -> str:
    """A number as it is written by default: with a decimal point, without an exponent.

    Examples:
        >>> decimal(1), decimal(0.00001), decimal(0.1)
        ('1.0', '0.00001', '0.1')
    """
    text = format(Decimal(repr(float(value))), "f")
    return text if "." in text else f"{text}.0"


def number(text: str) -> float | None:
    """The number that a text is, apart from spaces around it; None for other texts.

    Examples:
        >>> number(" 1e-3"), number("high"), number("1e999"), number("nan")
        (0.001, None, None, None)
    """
    if not re.fullmatch(_NUMBER, text):
        return None
    value = float(text)
    return value if isfinite(value) else None


def from_text(written: pl.Series) -> pl.DataFrame:
    """The columns `confidence` and `confidence_text` of numbers as written.

    Args:
        written: the texts, without nulls.

    Examples:
        >>> from_text(pl.Series(["0.5", "1", "high"])).rows()
        [(0.5, None), (1.0, '1'), (None, 'high')]
    """
    plain = written.to_frame("text").select(
        "text",
        confidence=pl.when(pl.col("text").str.contains(r"^[0-9]{1,9}\.[0-9]{1,30}$"))
        .then(pl.col("text"))
        .cast(pl.Float64, strict=False),
    )
    kept = pl.col("confidence").cast(pl.String) == pl.col("text")
    odd = plain.filter(~kept.fill_null(value=False))["text"].unique().to_list()
    values = {text: number(text) for text in odd}
    texts = {
        text: None if value is not None and decimal(value) == text else text
        for text, value in values.items()
    }
    text = pl.col("text")
    return plain.select(
        confidence=pl.coalesce(
            "confidence", text.replace_strict(values, default=None, return_dtype=pl.Float64)
        ),
        confidence_text=text.replace_strict(texts, default=None, return_dtype=pl.String),
    )


def to_text(rows: pl.DataFrame) -> pl.Series:
    """The confidences of mentions as text; 1.0 where there is none.

    Args:
        rows: with the columns `confidence` and `confidence_text`.

    Examples:
        >>> columns = {"confidence": [0.5, 1.0, None], "confidence_text": [None, "1", None]}
        >>> to_text(pl.DataFrame(columns)).to_list()
        ['0.5', '1', '1.0']
    """
    value, text = pl.col("confidence"), pl.col("confidence").cast(pl.String)
    long = ~text.str.contains(r"^[0-9]+\.[0-9]+$") & pl.col("confidence_text").is_null()
    odd = rows.filter(long)["confidence"].drop_nulls().unique().to_list()
    texts = {number: decimal(number) for number in odd}
    spelled = value.replace_strict(texts, default=None, return_dtype=pl.String)
    return rows.select(
        pl.coalesce("confidence_text", spelled, text, pl.lit("1.0")).alias("confidence")
    )["confidence"]
