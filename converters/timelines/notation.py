r"""The notation of an instance, rating or change as one line of text, as label tracks hold them.

    norm: 101 | status=adhere | llr=1.5
    420 | region=M01_0003 | annotator=8765

The first part is the label, level or direction, after the kind where nothing else shows it. Then
come the properties that are known, each after a vertical bar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from hlteval.converters.format import Setting
from hlteval.findings import Problem
from hlteval.findings.suggest import did_you_mean

#: The kinds of instances.
INSTANCES = ("norm", "emotion")
#: The kinds of ratings.
RATINGS = ("valence", "arousal")
#: The kind of changes, and the text of one without a direction.
CHANGE = "change"
#: The text of a rating without a level.
NOT_ANNOTATED = "noann"
#: The column of each table that the first part has.
MAIN: Mapping[str, str] = MappingProxyType(
    {"instances": "label", "ratings": "level", "changes": "direction"}
)
#: The columns of each table that are properties.
PROPERTIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "instances": ("status", "llr", "region", "several", "annotator"),
        "ratings": ("bin", "region", "annotator"),
        "changes": ("strength", "llr", "evidence", "annotator"),
    }
)
NUMBER = r"[+-]?(?:[0-9]{1,200}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?"
#: The setting of formats whose labels need not name their kind.
KIND = Setting(
    "kind", "Kind of labels that do not name theirs.", "norm", of="read", choices=INSTANCES
)
_BAR = " | "
_KIND = re.compile(rf"({'|'.join(INSTANCES)}): +")
_VALUES: Mapping[str, str] = MappingProxyType({"llr": NUMBER, "several": "true|false"})
_EXPECTED: Mapping[str, str] = MappingProxyType({"llr": "a number", "several": "true or false"})
#: Line breaks, control characters, and the bar.
_UNWRITABLE = "[\x00-\x1f\x85\u2028\u2029\ufffe\uffff|]"

Value = str | float | bool | None


class Note(NamedTuple):
    """What a line of text says.

    Attributes:
        kind: as written before the label; empty where it is not.
        main: the first part.
        values: the properties by name, as values.
        problems: what is wrong; places are code points of the text.
    """

    kind: str
    main: str
    values: Mapping[str, Value]
    problems: list[Problem]


def noted(text: str, table: str = "instances", *, with_kind: bool = True) -> Note:
    """What a line of text says.

    Args:
        text: the line.
        table: `instances`, `ratings` or `changes`.
        with_kind: whether an instance may begin with its kind.

    Examples:
        >>> noted("emotion: joy | llr=0.5")[:3]
        ('emotion', 'joy', {'llr': 0.5})
        >>> noted("positive | strenght=4", "changes").problems[0].values["hint"]
        'did you mean strength?'
    """
    first, *parts = text.split(_BAR)
    kind = _KIND.match(first.lstrip()) if with_kind and table == "instances" else None
    main = (first.lstrip()[kind.end() :] if kind else first).strip()
    problems = [] if main else [Problem("TLN101", 0, 0, len(text))]
    values: dict[str, Value] = {}
    start = len(first) + len(_BAR)
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition("="))
        problem = _problem(name, value, part.strip(), table)
        if problem:
            problems.append(problem.shift(start)._replace(end=start + len(part)))
        else:
            values[name] = _value(name, value)
        start += len(part) + len(_BAR)
    return Note(kind[1] if kind else "", main, values, problems)


def _problem(name: str, value: str, part: str, table: str) -> Problem | None:
    """What is wrong with a property, at the beginning of its text."""
    if name not in PROPERTIES[table] or not value:
        listed = ", ".join(f"{known}=" for known in PROPERTIES[table])
        hint = f"write one of {listed} or remove the bar before it"
        hint = did_you_mean(name, [n for n in PROPERTIES[table] if n != name], hint)
        return Problem("TLN102", 0, 0, 0, {"given": part[:40] or "(empty)", "hint": hint})
    if name in _VALUES and not re.fullmatch(_VALUES[name], value):
        expected = {"given": value[:40], "name": name, "expected": _EXPECTED[name]}
        return Problem("TLN103", 0, 0, 0, expected)
    return None


def _value(name: str, value: str) -> Value:
    if name == "several":
        return value == "true"
    return float(value) if name == "llr" else value


def text(table: str, *, with_kind: bool = False) -> pl.Expr:
    """The rows of a table as lines of text, named `text`.

    Args:
        table: `instances`, `ratings` or `changes`.
        with_kind: whether the text begins with the kind.

    Examples:
        >>> row = {"kind": "norm", "label": "101", "status": None, "llr": 1.5}
        >>> frame = pl.DataFrame([row | {"region": "S1", "several": True, "annotator": None}])
        >>> frame.select(text("instances", with_kind=True)).item()
        'norm: 101 | llr=1.5 | region=S1 | several=true'
    """
    empty = {"ratings": NOT_ANNOTATED, "changes": CHANGE}.get(table, "")
    main = pl.col(MAIN[table]).cast(pl.String).fill_null(empty)
    properties = (
        pl.format(f"{_BAR}{name}={{}}", pl.col(name).cast(pl.String)) for name in PROPERTIES[table]
    )
    parts = [pl.format("{}: ", "kind")] if with_kind else []
    return pl.concat_str(*parts, main, *properties, ignore_nulls=True).alias("text")


def fits(table: str) -> pl.Expr:
    """Whether a line of text can represent a row of a table."""
    kinds = {"instances": INSTANCES, "ratings": RATINGS}.get(table)
    texts = [c for c in (MAIN[table], *PROPERTIES[table]) if c not in {"llr", "level", "several"}]
    conditions = [is_line(name) for name in texts]
    conditions += [pl.col("kind").is_in(kinds)] if kinds else []
    if table == "changes":
        conditions.append(pl.col("direction").ne_missing(CHANGE))
    number = "level" if table == "ratings" else "llr"
    return pl.all_horizontal(is_number(number), *conditions)


def is_number(column: str) -> pl.Expr:
    """Whether a number is null, or one that text represents with an exponent of two digits."""
    value = pl.col(column)
    usual = (value == 0) | value.abs().is_between(1e-90, 1e90)
    return (usual & value.is_finite()).fill_null(value=True)


def is_line(column: str) -> pl.Expr:
    """Whether a text is null, or a part of a line that comes back as it is."""
    value = pl.col(column)
    line = (value.str.strip_chars() == value) & (value != "") & ~value.str.contains(_UNWRITABLE)
    return line.fill_null(value=True)
