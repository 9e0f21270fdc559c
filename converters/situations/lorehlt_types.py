"""The types of LoReHLT situation frames, and the values that each kind of frame may have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from hlteval.converters.situations.types import QUOTES
from hlteval.findings.suggest import closest
from hlteval.grammars import schema

SCHEMA = "lorehlt-sf"
#: The schemas of submissions: that of the plan, and those that were published.
VERSIONS = ("plan", "2018-v2", "2019-v1", "2019-v2")
Kind = Literal["need", "issue", ""]
NEED: Kind = "need"
ISSUE: Kind = "issue"

#: The types by their names in other annotations, in lower case.
_SPEECH: Mapping[str, str] = {
    "evacuation": "evac",
    "food supply": "food",
    "infrastructure": "infra",
    "medical assistance": "med",
    "urgent rescue": "search",
    "shelter": "shelter",
    "utilities, energy, or sanitation": "utils",
    "water supply": "water",
    "elections and politics": "regimechange",
    "regime change": "regimechange",
    "civil unrest or wide-spread crime": "crimeviolence",
    "civil unrest": "crimeviolence",
    "terrorism or other extreme violence": "terrorism",
}


@cache
def types(kind: Kind = "") -> Sequence[str]:
    """The types of needs, of issues, or all of them.

    Examples:
        >>> types("issue")
        ('regimechange', 'crimeviolence', 'terrorism')
        >>> len(types())
        11
    """
    return _allowed(kind, "Type")


@cache
def _allowed(kind: Kind, name: str) -> Sequence[str]:
    properties = schema(SCHEMA)["definitions"][kind or "frame"]["properties"]
    return tuple(properties[name]["enum"])


def statuses(kind: Kind) -> Sequence[str]:
    """The values of Status of a need or an issue.

    Examples:
        >>> statuses("issue")
        ('current', 'not_current')
    """
    return _allowed(kind, "Status")


def kind_of(label: object) -> Kind:
    """Whether a type is that of a need or of an issue; empty if it is unknown.

    Examples:
        >>> kind_of("food"), kind_of("terrorism"), kind_of("Food")
        ('need', 'issue', '')
    """
    if not isinstance(label, str):
        return ""
    if label in types("need"):
        return "need"
    return "issue" if label in types("issue") else ""


def type_hint(unknown: str) -> str:
    """A hint for an unknown type: the type that was probably meant, or all of them.

    Examples:
        >>> type_hint("Food"), type_hint("Water Supply")
        ('did you mean food?', 'did you mean water?')
        >>> type_hint("weather")[:36]
        'use one of: evac, food, infra, med, '
    """
    bare = unknown.strip(f"{QUOTES} ")
    name = _SPEECH.get(bare.lower())
    if name is None and bare.lower() in types():
        name = bare.lower()
    if name is None and re.search(r"[a-z]{4}", bare.lower()):
        name = closest(bare, types(), cutoff=75)
    return f"did you mean {name}?" if name else f"use one of: {', '.join(types())}"
