"""Corrections of whole files by rules, which know what they compare them with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import polars as pl

from hlteval.findings import FieldRef, Span
from hlteval.sources import Member
from hlteval.tasks import rules
from hlteval.workflows.batches import Submission
from hlteval.workflows.checks import Check


class Rewrite(NamedTuple):
    """What replaces a span of a file."""

    file: str
    span: Span
    put: str


def rewrites(opened: Submission, profile: str, code: str) -> list[Rewrite]:
    """What corrects the problem of a rule in a whole submission; nothing if that is not certain.

    Args:
        opened: the submission.
        profile: `plan` or `official`.
        code: the code of the rule.
    """
    found: list[Rewrite] = []
    check = Check.of(opened, profile, gold=False)
    for pair in chain.from_iterable(check.batches(None)):
        context = check.judged(pair)
        for rule in rules(opened.task):
            if rule.code == code and rule.rewrites is not None:
                found += _located(rule.rewrites(context), pair.system.members, opened)
    return found


def _located(
    rows: pl.DataFrame, members: tuple[Member, ...], opened: Submission
) -> Iterator[Rewrite]:
    for (origin,), some in rows.group_by("origin", maintain_order=True):
        member = members[int(str(origin))]
        fields = [FieldRef(*key) for key in some.select("record", "field").iter_rows()]
        located = opened.format.locate(member, fields)
        for location, put in zip(located, some["put"], strict=True):
            if location is not None:
                yield Rewrite(member.display, location.span, put)
